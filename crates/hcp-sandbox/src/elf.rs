//! The one thing that is read of a program's format: which program loads its libraries.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// Bytes of the header of a 64-bit file, and of one entry of its table of segments.
const HEADER: usize = 64;
const ENTRY: usize = 56;
/// The kind of segment that names the loader.
const INTERPRETER: u32 = 3;
/// A table of segments longer than this is none of a program.
const MOST: u16 = 128;

/// The loader that a 64-bit ELF program names (`PT_INTERP`); `None` for a static one, and for what is
/// no such program, which the kernel does not execute either.
pub(crate) fn loader_of(file: &File) -> Option<PathBuf> {
    let header = read::<HEADER>(file, 0)?;
    // The two bytes after the magic number say 64 bits, little end first.
    if header.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let table = number(&header, 32)?;
    let count = u16::from_le_bytes(header.get(56..58)?.try_into().ok()?);
    (0..count.min(MOST)).find_map(|index| {
        let entry = read::<ENTRY>(file, table.checked_add(u64::from(index) * ENTRY as u64)?)?;
        let kind = u32::from_le_bytes(entry.get(..4)?.try_into().ok()?);
        if kind != INTERPRETER {
            return None;
        }
        let (place, length) = (number(&entry, 8)?, number(&entry, 32)?);
        let mut name = vec![0; usize::try_from(length.min(4096)).ok()?];
        file.read_exact_at(&mut name, place).ok()?;
        let name = name.split(|byte| *byte == 0).next()?;
        Some(PathBuf::from(OsStr::from_bytes(name)))
    })
}

fn read<const SIZE: usize>(file: &File, place: u64) -> Option<[u8; SIZE]> {
    let mut bytes = [0; SIZE];
    file.read_exact_at(&mut bytes, place).ok()?;
    Some(bytes)
}

fn number(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Seek, Write};

    use super::loader_of;

    #[test]
    fn programs_name_their_loader_and_other_files_none() {
        let own = File::open("/proc/self/exe").unwrap();
        let loader = loader_of(&own);
        assert!(loader.is_none_or(|path| path.is_absolute() && path.exists()));
        let shell = File::open("/bin/sh").unwrap();
        assert!(loader_of(&shell).unwrap().to_str().unwrap().contains("ld"));
        let mut whole = Vec::new();
        std::io::Read::read_to_end(&mut &shell, &mut whole).unwrap();
        for length in [0, 3, 40, 64, 100, 400] {
            let mut cut = tempfile::tempfile().unwrap();
            cut.write_all(&whole[..length]).unwrap();
            cut.rewind().unwrap();
            let _ = loader_of(&cut);
        }
        assert_eq!(loader_of(&File::open("/etc/passwd").unwrap()), None);
    }
}
