//! The nine steps, a file each.
