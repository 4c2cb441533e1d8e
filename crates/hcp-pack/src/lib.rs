//! Reading a pack, its checks, arguments and rendering.
