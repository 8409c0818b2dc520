//! Files are replaced as a whole or not at all.

use std::fs;
use std::io;
use std::path::Path;

use rankwise_io::{check_writable, read_bytes, write_atomically};

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    write_atomically(path, |output| output.write_all(text.as_bytes())).map_err(|error| error.to_string())
}

#[test]
fn a_file_is_replaced_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.txt");
    write(&path, "one").unwrap();
    write(&path, "two").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "two");
    assert_eq!(names(folder.path()), ["out.txt"]);
}

#[test]
fn a_failure_leaves_the_old_file_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["out.txt", "out.gz", "out.zst"] {
        let path = folder.path().join(name);
        write(&path, "old").unwrap();
        let before = fs::read(&path).unwrap();
        let error = write_atomically(&path, |output| {
            output.write_all(&vec![b'x'; 1_000_000])?;
            Err(io::ErrorKind::StorageFull.into())
        });
        let message = error.unwrap_err().to_string();
        let expected = format!("{name}: cannot write: the disk is full; free some space or use another place");
        assert!(message.ends_with(&expected), "{message}");
        let panicked = std::panic::catch_unwind(|| write_atomically(&path, |_| panic!("on purpose")));
        assert!(panicked.is_err());
        assert_eq!(fs::read(&path).unwrap(), before);
    }
    assert_eq!(names(folder.path()), ["out.gz", "out.txt", "out.zst"]);
}

#[test]
fn places_that_cannot_be_written_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir(root.join("sub")).unwrap();
    fs::write(root.join("file"), "").unwrap();
    for (name, expected) in [
        ("no/out.txt", "no/out.txt: cannot write: its folder does not exist; create the folder first"),
        ("sub", "sub: cannot write: this is a folder; give a file"),
        ("new/", "new/: cannot write: this is a folder; give a file"),
        ("file/out", "file/out: cannot write: a part of the path is a file, not a folder; check the path"),
        ("", ": cannot write: this is a folder; give a file"),
    ] {
        let path = if name.is_empty() { Path::new("").into() } else { root.join(name) };
        let message = write(&path, "x").unwrap_err();
        assert!(message.ends_with(expected), "{message}");
    }
    assert_eq!(names(root), ["file", "sub"]);
}

#[test]
fn long_names_are_fine() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["n".repeat(255), "ö".repeat(127)] {
        write(&folder.path().join(&name), "x").unwrap();
        assert_eq!(fs::read_to_string(folder.path().join(&name)).unwrap(), "x");
    }
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use rankwise_testing::{SkipKind, skip};

    use super::*;

    /// Runs a test of this program again, as a user to whom permissions apply: root can write anywhere.
    fn run_as_another_user(test: &str) {
        const NOBODY: u32 = 65_534;
        const IS_SECOND_RUN: &str = "RANKWISE_TEST_AS_NOBODY";
        assert!(std::env::var_os(IS_SECOND_RUN).is_none(), "this user may write anywhere, too");
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        // A copy, because other users may not have access to the original.
        let program = folder.path().join("tests");
        fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = Command::new(&program);
        command.args([test, "--exact"]).env(IS_SECOND_RUN, "1").env("TMPDIR", folder.path());
        match command.current_dir(folder.path()).uid(NOBODY).gid(NOBODY).output() {
            Ok(output) => {
                let shown = String::from_utf8_lossy(&output.stdout);
                assert!(output.status.success() && shown.contains("1 passed"), "{shown}");
            }
            Err(error) => skip(SkipKind::Missing, &format!("cannot run a program as another user: {error}")),
        }
    }

    #[test]
    fn links_stay_links_and_rights_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        fs::write(&target, "old").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("target", &link).unwrap();
        write(&link, "new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        assert_eq!(fs::metadata(&target).unwrap().mode() & 0o777, 0o640);
        assert_eq!(names(folder.path()), ["link", "target"]);
    }

    #[test]
    fn devices_are_written_to_and_not_replaced() {
        write(Path::new("/dev/null"), "x").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn a_closed_folder_is_explained() {
        let folder = tempfile::tempdir().unwrap();
        let closed = folder.path().join("closed");
        fs::create_dir(&closed).unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
        if fs::write(closed.join("probe"), "").is_ok() {
            return run_as_another_user("atomic::unix::a_closed_folder_is_explained");
        }
        let message = write(&closed.join("out"), "x").unwrap_err();
        let expected = "permission denied; use another place or change the permissions of the folder";
        assert!(message.ends_with(expected), "{message}");
    }
}

#[test]
fn the_check_says_what_writing_would_say_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    write(&path("old"), "old").unwrap();
    for name in ["old", "new"] {
        check_writable(&path(name)).unwrap();
    }
    assert_eq!(names(folder.path()), ["old"]);
    assert_eq!(fs::read_to_string(path("old")).unwrap(), "old");
    for name in ["", "new/", "no/where", "old/x"] {
        let error = check_writable(&path(name)).unwrap_err().to_string();
        assert_eq!(error, write(&path(name), "text").unwrap_err(), "{name}");
    }
    check_writable(Path::new("-")).unwrap();
    assert_eq!(names(folder.path()), ["old"]);
}

#[test]
fn bytes_come_back_uncompressed_and_no_more_than_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["t", "t.gz", "t.zst"] {
        let path = folder.path().join(name);
        write(&path, "some text\n").unwrap();
        assert_eq!(read_bytes(&path, u64::MAX).unwrap(), b"some text\n", "{name}");
        assert_eq!(read_bytes(&path, 4).unwrap(), b"some", "{name}");
    }
    let whole = fs::read(folder.path().join("t.gz")).unwrap();
    fs::write(folder.path().join("cut.gz"), &whole[..whole.len() - 5]).unwrap();
    let error = read_bytes(&folder.path().join("cut.gz"), u64::MAX).unwrap_err().to_string();
    assert!(error.contains("the gzip data is damaged or cut off"), "{error}");
}
