#!/usr/bin/env python3
"""A tiny runtime of §6, and its adapter, in one file: the standard library and nothing else.

It claims what it keeps, and says `unsupported` to what it does not have: a command line. The rest
(numbers as ECMAScript writes them) it does as well as its few lines allow, and the kit tells how well.
"""

import json
import os
import subprocess
import sys
import tempfile

NAME = "tiny"


class Denied(Exception):
    """A step that refuses; its text is the `error`, its second argument the number of the step."""


class Runtime:
    def __init__(self):
        self.packs, self.active, self.grants = {}, set(), set()
        self.helpers, self.records, self.project = {}, [], None

    def install(self, manifest, files, allow_bins):
        if "*" in manifest["commands"]:
            return {"refused": "a command that lets anything through"}
        root = tempfile.mkdtemp(dir=FOLDER.name)
        for file in files:
            path = os.path.join(root, file["path"])
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as out:
                out.write(file["text"])
            os.chmod(path, 0o755 if file["executable"] else 0o644)
        self.packs[manifest["id"]] = (manifest, root, allow_bins)
        return {}

    def exec(self, text):
        try:
            call = json.loads(text)
            pack_id, verb = call.get("pack_id", call.get("surface_id")), call["verb_key"]
            args = call.get("args", {})
            if not (isinstance(pack_id, str) and isinstance(verb, str) and isinstance(args, dict)):
                raise TypeError("a field has the wrong type")
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            return {"ok": False, "pack_id": "", "verb_key": "", "error": f"invalid envelope: {error}"}
        answer = {"ok": True, "pack_id": pack_id, "verb_key": verb}
        step = None
        try:
            answer["result"] = self.run(pack_id, verb, args)
        except Denied as denied:
            error, step = denied.args
            answer.update(ok=False, error=error)
        self.records.append({"pack_id": pack_id, "verb_key": verb, "ok": answer["ok"], "step": step})
        return answer

    def run(self, pack_id, verb, args):
        """The steps of §6.3, in order."""
        if pack_id not in self.packs:
            raise Denied(f"unknown pack {pack_id}", 1)
        manifest, root, allow_bins = self.packs[pack_id]
        if pack_id not in self.active:
            raise Denied(f"pack {pack_id} not activated", 2)
        command, policy = manifest["commands"].get(verb), manifest["policy"].get(verb)
        if command is None or policy is None:
            raise Denied(f"no policy for {verb}", 3)
        if manifest.get("privacy", {}).get("land") == "brain" and not self.project:
            raise Denied("denied: privacy.land brain requires project_id", 4)
        if policy["capability"] not in self.grants:
            raise Denied(f"denied: missing {policy['capability']} for {pack_id}.{verb}", 5)
        gated = policy.get("confirm", command.get("effect", "destructive") == "destructive")
        if gated and args.get("confirm") is not True and args.get("apply") is not True:
            raise Denied("confirm required", 6)
        secrets = self.mint(manifest, args)
        kind = command.get("kind", manifest["kind"])
        if kind != "wrap":
            raise Denied(f"adapter {kind} not executable in {NAME}", 8)
        return self.wrap(manifest["wrap"], command, verb, args, root, allow_bins, secrets)

    def mint(self, manifest, args):
        names = manifest.get("binding", {}).get("env", [])
        if args.get("mode") == "mock" or not names:
            return {name: "mock" for name in names}
        try:
            helper = self.helpers[manifest["id"]]
            done = subprocess.run(helper, stdin=subprocess.DEVNULL, capture_output=True, check=True, env={})
            return json.loads(done.stdout)["env"]
        except (KeyError, OSError, ValueError, subprocess.CalledProcessError):
            raise Denied("binding: nothing was minted", 7) from None

    def wrap(self, wrap, command, verb, args, root, allow_bins, secrets):
        own = wrap["bin"].startswith(".")
        if not own and wrap["bin"] not in allow_bins:
            raise Denied(f"sandbox: bin \"{wrap['bin']}\" not allowlisted", 8)
        path = os.path.join(root, wrap["bin"]) if own else wrap["bin"]
        argv = render(command, wrap, verb, args) + wrap.get("json", ["--json"])
        env = {"HCP_SANDBOX": "native-local", **wrap.get("agent_env", {}), **secrets}
        try:
            done = subprocess.run([path, *argv], stdin=subprocess.DEVNULL, capture_output=True, cwd=root, env=env)
        except (OSError, ValueError) as error:
            raise Denied(f"sandbox: {error}", 8) from None
        if done.returncode != 0:
            raise Denied(done.stderr.decode(errors="replace") or f"exit {done.returncode}", 8)
        out = done.stdout.decode(errors="replace")
        try:
            return json.loads(out)
        except ValueError:
            return out


def render(command, wrap, verb, args):
    argv = []
    for token in command["cli"][1:] if "cli" in command else wrap.get("argv_template", []):
        if token == "{{verb}}":
            argv += verb.split(".", 1)[-1].split()
            continue
        pieces, absent = token.split("{{"), False
        text = pieces[0]
        for piece in pieces[1:]:
            name, rest = piece.split("}}", 1)
            absent = absent or args.get(name) is None
            text += string(args.get(name)) + rest
        if text and not absent:
            argv.append(text)
    return argv


def string(value):
    if isinstance(value, list):
        return ",".join(string(one) for one in value)
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value)


FOLDER = tempfile.TemporaryDirectory()
CLAIMS = {"name": NAME, "version": "1", "clauses": ["6.1", "6.2", "6.3", "6.6", "6.7"],
          "faces": ["json"], "adapters": ["wrap"]}


def answer(runtime, ask):
    match ask.pop("request"):
        case "hello":
            return {"runtime": CLAIMS}
        case "reset":
            runtime.__init__()
            os.environ.clear()
        case "environment":
            os.environ.update(ask["set"])
        case "binding":
            runtime.helpers[ask["pack_id"]] = ask["command"]
        case "install":
            return runtime.install(**ask)
        case "project":
            runtime.project = ask["project_id"]
        case "grant":
            runtime.grants.add(ask["capability"])
        case "activate":
            runtime.active.add(ask["pack_id"])
        case "remove":
            runtime.packs.pop(ask["pack_id"], None)
        case "exec" if ask["face"] == "json":
            return {"output": json.dumps(runtime.exec(ask["envelope"]))}
        case "health":
            pass  # Being there is all the health it has.
        case "audit":
            return {"records": runtime.records}
        case other:
            return {"unsupported": f"tiny has no {other}"}
    return {}


def main():
    runtime = Runtime()
    for line in sys.stdin:
        print(json.dumps(answer(runtime, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
