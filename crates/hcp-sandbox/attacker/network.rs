//! Getting anything out by a socket.

use std::io::Write;
use std::mem::{size_of, zeroed};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixStream};

use crate::{Case, Outcome, called, told};

pub(crate) const CASES: &[Case] = &[
    ("tcp-to-host", |hints| {
        let port = hints.number("tcp") as u16;
        told(
            TcpStream::connect(("127.0.0.1", port)).and_then(|mut stream| stream.write_all(b"out")),
        )
    }),
    ("tcp6-to-host", |hints| {
        let port = hints.number("tcp6") as u16;
        told(TcpStream::connect(("::1", port)).and_then(|mut stream| stream.write_all(b"out")))
    }),
    ("tcp-listen", |_| told(TcpListener::bind(("127.0.0.1", 0)))),
    ("udp-to-host", |hints| {
        let port = hints.number("udp") as u16;
        told(
            UdpSocket::bind("127.0.0.1:0")
                .and_then(|socket| socket.send_to(b"out", ("127.0.0.1", port))),
        )
    }),
    ("local-to-host", |hints| {
        told(
            UnixStream::connect(hints.get("socket"))
                .and_then(|mut stream| stream.write_all(b"out")),
        )
    }),
    ("local-in-a-grant", |hints| {
        let path = format!("{}/socket", hints.get("readable"));
        told(UnixStream::connect(path).and_then(|mut stream| stream.write_all(b"out")))
    }),
    ("local-abstract", |hints| {
        abstract_connect(hints.get("abstract"))
    }),
    ("local-datagram", |hints| {
        let path = format!("{}/datagrams", hints.get("readable"));
        told(UnixDatagram::unbound().and_then(|socket| socket.send_to(b"out", path)))
    }),
    ("local-datagram-by-pair", |hints| {
        let path = format!("{}/datagrams", hints.get("readable"));
        told(UnixDatagram::pair().and_then(|(socket, _)| socket.send_to(b"out", path)))
    }),
    ("virtual-machine-socket", |_| {
        socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0)
    }),
    ("netlink", |_| socket(libc::AF_NETLINK, libc::SOCK_RAW, 0)),
    ("kernel-crypto", |_| {
        socket(libc::AF_ALG, libc::SOCK_SEQPACKET, 0)
    }),
    ("packet", |_| socket(libc::AF_PACKET, libc::SOCK_RAW, 0)),
    ("raw", |_| {
        socket(libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP)
    }),
    ("multipath-tcp", |_| {
        socket(libc::AF_INET, libc::SOCK_STREAM, 262)
    }),
    ("see-interfaces", |_| {
        let mut addresses = std::ptr::null_mut();
        called(
            "getifaddrs",
            unsafe { libc::getifaddrs(&raw mut addresses) }.into(),
        )
    }),
];

fn socket(family: i32, kind: i32, protocol: i32) -> Outcome {
    called(
        "socket",
        unsafe { libc::socket(family, kind, protocol) }.into(),
    )
}

fn abstract_connect(name: &str) -> Outcome {
    let descriptor = unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_STREAM, 0) };
    called("socket", descriptor.into())?;
    let mut address: libc::sockaddr_un = unsafe { zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    for (slot, byte) in address.sun_path.iter_mut().skip(1).zip(name.bytes()) {
        *slot = byte as libc::c_char;
    }
    let length = size_of::<libc::sa_family_t>() + 1 + name.len();
    let connected = unsafe {
        libc::connect(
            descriptor,
            (&raw const address).cast(),
            length as libc::socklen_t,
        )
    };
    called("connect", connected.into())
}
