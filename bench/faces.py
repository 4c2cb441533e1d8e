"""Compares the faces of hcp with servers that let a client run commands, and prints one table.

    bench/faces [--runs N] [--packs N]     (bench/faces builds and installs what this needs)

Every contender is asked for the same things over stdin and stdout, one after another in turns: to do
nothing, to echo, to give 10 MB back. What counts are the ratios; the times beside them belong to
this machine and this day. Only hcp governs, confines and records what it runs.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import threading
import time

MEGABYTES = 10
CALLERS = 16
CANCELLED = 200


class Unfit(Exception):
    """A contender that does not do what is measured."""


class Server:
    """A server that was started, and the calls that wait for it."""

    def __init__(self, contender):
        self.contender = contender
        began = time.perf_counter()
        self.process = subprocess.Popen(
            contender.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=contender.env,
        )
        self.waiting = {}
        self.lock = threading.Lock()
        self.count = 0
        threading.Thread(target=self.read, daemon=True).start()
        if contender.mcp:
            hello = {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "bench", "version": "1"},
            }
            self.ask({"method": "initialize", "params": hello})
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        contender.check(self.call("noop"), "noop")
        self.start = time.perf_counter() - began

    def read(self):
        for line in self.process.stdout:
            # The whole line is only parsed by whoever waits for it; an id stands at an end of it.
            message = line[:60] + line[-60:] if len(line) > 100_000 else line
            for number, (event, answer) in list(self.waiting.items()):
                if f'"id":{number},'.encode() in message.replace(b" ", b"") or (
                    f'"id":{number}}}'.encode() in message.replace(b" ", b"")
                ):
                    answer.append(line)
                    event.set()

    def send(self, message):
        line = json.dumps(message) + "\n"
        with self.lock:
            self.process.stdin.write(line.encode())
            self.process.stdin.flush()

    def begin(self, message):
        with self.lock:
            self.count += 1
            number = self.count
        event, answer = threading.Event(), []
        self.waiting[number] = (event, answer)
        if self.contender.mcp:
            self.send({"jsonrpc": "2.0", "id": number, **message})
        else:
            self.send({"id": number, **message})
        return number

    def end(self, number):
        event, answer = self.waiting[number]
        if not event.wait(60):
            raise SystemExit(f"{self.contender.name} does not answer")
        del self.waiting[number]
        return answer[0]

    def ask(self, message):
        return self.end(self.begin(message))

    def call(self, what):
        return self.ask(self.contender.message(what))

    def memory(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        kibibytes = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(kibibytes.split()[1]) / 1024

    def children(self):
        found, left = set(), [self.process.pid]
        while left:
            pid = left.pop()
            for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
                try:
                    pids = [int(word) for word in task.read_text().split()]
                except OSError:
                    continue
                found.update(pids)
                left.extend(pids)
        return found

    def cancel(self, number):
        del self.waiting[number]
        if self.contender.mcp:
            params = {"requestId": number}
            self.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
        else:
            self.send({"cancel": number})

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Contender:
    """How one server is started, and how it is asked."""

    def __init__(self, name, command, message, env=None, mcp=True):
        self.name, self.command, self.message, self.mcp = name, command, message, mcp
        self.env = env or os.environ.copy()
        self.gives_large = True

    def check(self, answer, what):
        text = answer.decode()
        if '"error"' in text[:200] or '"isError":true' in text.replace(" ", ""):
            raise Unfit(f"{self.name} fails to {what}: {text[:400]}")


def contenders(options):
    folder = options.folder.resolve()
    noop, large = folder / "noop", folder / "large"
    large.write_bytes(b"x" * (MEGABYTES << 20))
    argv = {
        "noop": [str(noop)],
        "echo": ["/bin/echo", "hello"],
        "large": ["/bin/cat", str(large)],
        "sleep": ["/bin/sleep", "30"],
    }

    def tool(name, arguments):
        def message(what):
            params = {"name": name, "arguments": arguments(what)}
            return {"method": "tools/call", "params": params}

        return message

    def hcp_tool(what):
        return {"method": "tools/call", "params": {"name": f"bench__{what}", "arguments": {}}}

    def hcp_line(what):
        return {"envelope": {"pack_id": "bench", "verb_key": what}}

    env = {"HCP_HOME": str(install(options, folder, argv)), "PATH": "/usr/bin:/bin"}
    hcp = str(options.hcp.resolve())
    found = [
        Contender("hcp stdio", [hcp, "stdio", "--ids"], hcp_line, env, mcp=False),
        Contender("hcp mcp", [hcp, "mcp"], hcp_tool, env),
    ]
    peers = options.tools / "peers"
    shell_server = peers / "mcp-shell-server/bin/mcp-shell-server"
    fastmcp = peers / "fastmcp/bin/python"
    if options.floor:
        found.append(
            Contender("rmcp by hand", [str(options.floor)], tool("run", lambda w: {"argv": argv[w]}))
        )
    if shell_server.exists():
        allowed = dict(os.environ, ALLOW_COMMANDS=",".join(words[0] for words in argv.values()))
        shell = tool(
            "shell_execute",
            lambda w: {"command": argv[w], "directory": "/tmp"},
        )
        found.append(Contender("mcp-shell-server", [str(shell_server)], shell, allowed))
    if fastmcp.exists():
        script = pathlib.Path(__file__).with_name("fastmcp_server.py")
        run = tool("run", lambda w: {"argv": argv[w]})
        found.append(Contender("fastmcp", [str(fastmcp), str(script)], run))
    commands = peers / "node_modules/.bin/mcp-server-commands"
    if commands.exists():
        run = tool("run_command", lambda w: {"command": " ".join(argv[w])})
        found.append(Contender("mcp-server-commands", [str(commands)], run))
    return found


def install(options, folder, argv):
    """An installation of hcp with the same four commands, and many packs beside."""
    home = folder / "faces-home"
    if home.exists():
        subprocess.run(["chmod", "-R", "u+w", str(home)], check=True)
        subprocess.run(["rm", "-rf", str(home)], check=True)
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text(
        '[sandbox]\nmode = "native-local"\nallow_bins = ["/bin/echo", "/bin/cat", "/bin/sleep"]\n'
    )
    (home / "config.toml").chmod(0o600)

    def hcp(*words):
        done = subprocess.run(
            [options.hcp, *words], env={"HCP_HOME": str(home), "PATH": "/usr/bin:/bin"},
            capture_output=True, text=True, check=False,
        )
        if done.returncode:
            raise SystemExit(f"hcp {' '.join(words)}: {done.stderr}")

    hcp("init")
    # A pack has one bin; a script of the tests would be slower than what the others start.
    bench = folder / "faces-pack"
    bench.mkdir(exist_ok=True)
    text = 'hcp = 1\nid = "bench"\nversion = "1"\nsummary = "Bench"\nkind = "wrap"\n'
    text += '[wrap]\nbin = "./multi"\njson = []\noutput = "text"\n'
    for name, words in argv.items():
        arguments = json.dumps(["multi", name, *words[1:]])
        text += f'[commands.{name}]\nsummary = "{name}"\neffect = "read"\ncli = {arguments}\n'
        text += f'[policy.{name}]\ncapability = "bench:use"\n'
    (bench / "hcp.toml").write_text(text)
    (bench / "multi").unlink(missing_ok=True)
    (bench / "multi").write_bytes((folder / "multi").read_bytes())
    (bench / "multi").chmod(0o755)
    hcp("pack", "add", str(bench))
    hcp("activate", "bench")
    hcp("grant", "add", "me", "bench:*")
    names = []
    for number in range(options.packs):
        pack = folder / "faces-many"
        pack.mkdir(exist_ok=True)
        (pack / "hcp.toml").write_text(
            f'hcp = 1\nid = "pack{number}"\nversion = "1"\nsummary = "Pack"\nkind = "wrap"\n'
            '[wrap]\nbin = "echo"\n[commands.say]\nsummary = "Say"\neffect = "read"\n'
            f'cli = ["echo", "x"]\n[policy.say]\ncapability = "pack{number}:use"\n'
        )
        hcp("pack", "add", str(pack))
        names.append(f"pack{number}")
    if names:
        hcp("activate", *names)
    return home


def median(times):
    return statistics.median(times) * 1000


def latency(servers, runs, what):
    able = {
        name: server
        for name, server in servers.items()
        if what != "large" or server.contender.gives_large
    }
    times = {name: [] for name in able}
    for turn in range(runs + 3):
        for name, server in able.items():
            began = time.perf_counter()
            answer = server.call(what)
            took = time.perf_counter() - began
            if turn == 0:
                server.contender.check(answer, what)
            if turn >= 3:
                times[name].append(took)
    return {name: median(taken) for name, taken in times.items()}


def crowd(server, runs):
    """Median latency at 16 callers, and calls a second."""
    times = []

    def caller():
        for _ in range(runs):
            began = time.perf_counter()
            server.call("noop")
            times.append(time.perf_counter() - began)

    threads = [threading.Thread(target=caller) for _ in range(CALLERS)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return median(times), len(times) / (time.perf_counter() - began)


def left_over(server):
    """Processes left one second after 200 calls were cancelled."""
    for _ in range(CANCELLED // 10):
        numbers = [server.begin(server.contender.message("sleep")) for _ in range(10)]
        time.sleep(0.05)
        for number in numbers:
            server.cancel(number)
    time.sleep(1)
    return len(server.children())


def fit(contenders):
    """Those that do everything that is asked; ours must."""
    found = []
    for one in contenders:
        try:
            server = Server(one)
            one.check(server.call("echo"), "echo")
            one.gives_large = len(server.call("large")) > MEGABYTES << 20
            server.close()
            found.append(one)
            if not one.gives_large:
                print(f"{one.name} does not give {MEGABYTES} MB back", file=sys.stderr)
        except (Unfit, OSError) as error:
            if one.name.startswith("hcp"):
                raise
            print(f"left out: {error}", file=sys.stderr)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hcp", type=pathlib.Path, required=True)
    parser.add_argument("--floor", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--tools", type=pathlib.Path, required=True)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--packs", type=int, default=0)
    options = parser.parse_args()
    all_contenders = fit(contenders(options))

    noop = str((options.folder / "noop").resolve())
    spawn = median([spawned(noop) for _ in range(options.runs)])
    starts = {one.name: [] for one in all_contenders}
    for _ in range(5):
        for one in all_contenders:
            server = Server(one)
            starts[one.name].append(server.start)
            server.close()
    servers = {one.name: Server(one) for one in all_contenders}
    rows = {"start ms": {name: median(taken) for name, taken in starts.items()}}
    rows["idle MiB"] = {name: server.memory() for name, server in servers.items()}
    rows["noop ms"] = latency(servers, options.runs, "noop")
    rows["echo ms"] = latency(servers, options.runs, "echo")
    rows[f"{MEGABYTES} MB ms"] = latency(servers, 5, "large")
    crowds = {name: crowd(server, options.runs) for name, server in servers.items()}
    rows[f"noop ms, {CALLERS} callers"] = {name: both[0] for name, both in crowds.items()}
    rows["calls a second"] = {name: both[1] for name, both in crowds.items()}
    rows["peak MiB"] = {name: server.memory() for name, server in servers.items()}
    rows[f"left after {CANCELLED} cancelled"] = {
        name: left_over(server) for name, server in servers.items()
    }
    for server in servers.values():
        server.close()

    print(f"medians of {options.runs} rounds, contenders in turns; {options.packs} packs beside")
    print(f"starting the program that does nothing, alone: {spawn:.2f} ms\n")
    width = max(len(name) for name in rows)
    print(" " * width, *(f"{name:>20}" for name in servers))
    for what, row in rows.items():
        cells = (f"{row[name]:>20.2f}" if name in row else " " * 19 + "-" for name in servers)
        print(f"{what:<{width}}", *cells)


def spawned(program):
    began = time.perf_counter()
    subprocess.run([program], check=False)
    return time.perf_counter() - began


main()
