//! Where an installation lives: one folder for its config, one for everything else.
//!
//! The caller says which folders; nothing here looks at the environment.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The folders of one installation.
#[derive(Clone, Debug)]
pub struct Home {
    config_folder: PathBuf,
    data_folder: PathBuf,
}

impl Home {
    /// An installation with everything beneath one folder (`HCP_HOME`).
    pub fn beneath(folder: &Path) -> Self {
        Self {
            config_folder: folder.to_owned(),
            data_folder: folder.to_owned(),
        }
    }

    /// An installation with its config in one folder and its data in another.
    pub const fn split(config_folder: PathBuf, data_folder: PathBuf) -> Self {
        Self {
            config_folder,
            data_folder,
        }
    }

    /// The operator's config, which need not be there.
    pub fn config_file(&self) -> PathBuf {
        self.config_folder.join("config.toml")
    }

    /// The folder that paths in the config are relative to.
    pub fn config_folder(&self) -> &Path {
        &self.config_folder
    }

    /// The folder of everything but the config.
    pub fn data_folder(&self) -> &Path {
        &self.data_folder
    }

    /// Where a store path of the config lies: relative to the data.
    pub fn store_file(&self, path: &str) -> PathBuf {
        self.data_folder.join(path)
    }

    /// The folder of the locks of running runtimes.
    pub fn locks(&self) -> PathBuf {
        self.data_folder.join("locks")
    }

    /// The folder of pinned packs.
    pub fn packs(&self) -> PathBuf {
        self.data_folder.join("packs")
    }

    /// The folder of what packs keep from call to call.
    pub fn state(&self) -> PathBuf {
        self.data_folder.join("state")
    }

    /// The pinned copy of the pack with this digest.
    pub fn pinned_pack(&self, digest: &str) -> PathBuf {
        self.packs().join(digest)
    }

    /// The folder in which each runtime has one for the folders of its calls.
    pub fn scratch(&self) -> PathBuf {
        self.data_folder.join("tmp")
    }

    /// Where it is kept what isolation this machine was found to give.
    pub fn isolation_file(&self) -> PathBuf {
        self.data_folder.join("isolation")
    }

    /// The lasting folder of a pack for a tenant and project, made when it is not there. A call
    /// without a project gets one of its own, `-`, which is no project's name.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn state_folder(
        &self,
        tenant_id: &str,
        project_id: Option<&str>,
        pack_id: &str,
    ) -> io::Result<PathBuf> {
        let folder = self
            .data_folder
            .join("state")
            .join(tenant_id)
            .join(project_id.unwrap_or("-"))
            .join(pack_id);
        private_folder(&folder)?;
        Ok(folder)
    }

    /// Makes the folders of a new installation, for its owner only.
    ///
    /// # Errors
    /// When one of them cannot be made.
    pub fn create(&self) -> io::Result<()> {
        for folder in [
            self.config_folder.clone(),
            self.data_folder.clone(),
            self.locks(),
            self.packs(),
            self.scratch(),
        ] {
            private_folder(&folder)?;
        }
        Ok(())
    }
}

fn private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}
