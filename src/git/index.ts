/** The git room: the only code that starts git. Streams in, streams out; it knows no users and no projects. */
export { GitError, type GitFailure } from './git-error.ts'
export { checkGit, openGit, type Git, type GitOptions } from './git.ts'
export {
  createRepository,
  deleteRepository,
  repositoryExists,
  setDefaultBranch,
  type Repository,
} from './repository.ts'

export { createInternalRef } from './create-ref.ts'
export { copyRepository, findBranch, type CopyOptions } from './copy-repository.ts'

// Values that git may be given; they come only from these functions.
export {
  branchName,
  branchRef,
  emptyTreeOid,
  isZero,
  parseFilePath,
  parseOid,
  parsePath,
  parseRefName,
  parseRev,
  rootPath,
  tagName,
  tagRef,
  zeroOid,
  type FilePath,
  type Oid,
  type RefName,
  type Rev,
  type TreePath,
} from './parse.ts'

// Reading.
export {
  countCommits,
  findCommit,
  findTag,
  isAncestor,
  lastCommitFor,
  listCommitIds,
  listCommits,
  readCommits,
  resolve,
  type Commit,
  type CommitFilter,
  type CommitPage,
  type Signature,
  type Tag,
} from './commits.ts'
export { parseTrailers, type Trailer } from './trailers.ts'
export { fileSizes } from './file-sizes.ts'
export { findEntry, listTree, type FileMode, type TreeEntry, type TreePage } from './tree.ts'
export { blobSize, findBlob, looksBinary, readBlob, streamBlob, type BlobHeader } from './blobs.ts'
export { changedPaths, commitStats, diffStat, type ChangedPath, type DiffStat } from './diffs.ts'
export { commitChanges } from './commit-changes.ts'
export { newBlobs } from './new-blobs.ts'
export { copyObjects, copyRefs } from './move-repository.ts'
export { diffBlobs } from './blob-diff.ts'
export { patchId } from './patch-id.ts'
export { streamPatch } from './stream-patch.ts'
export { grep, type Match } from './grep.ts'
export { fileDiffs, type DiffLimits, type DiffPage, type FileDiff } from './file-diffs.ts'
export { blame, lineCount, type BlamePart } from './blame.ts'
export { contributors, type Contributor } from './contributors.ts'
export { archive, canBzip2, type ArchiveFormat, type ArchiveOptions } from './archive.ts'

// Refs.
export { listBranches, listRefs, listTags, mergedBranches, refsContaining } from './refs.ts'
export type { Branch, Ref, RefSnapshot, RefsVersion, TagRef } from './ref-cache.ts'
export { allowAll, updateRefs, type UpdateOptions } from './update-refs.ts'
export { RefRefusal } from './ref-update.ts'
export type {
  Proposal,
  ProposedUpdate,
  RefGuard,
  RefJournal,
  RefUpdate,
  Refusal,
  Rejection,
  RejectionReason,
  UpdateOutcome,
} from './ref-update.ts'
export { reconcile, type Fate } from './reconcile.ts'

// Transport.
export {
  advertiseRefs,
  parseProtocol,
  type AdvertiseOptions,
  type ProtocolVersion,
  type Service,
} from './advertise.ts'
export { uploadPack, type UploadOutcome, type UploadPackOptions } from './upload-pack.ts'
export { receivePack, type PushResult, type ReceivePackOptions } from './receive-pack.ts'

// With repositories elsewhere.
export { ByteReader } from './byte-reader.ts'
export { flushPkt, pkt } from './pkt-line.ts'
export { readRemoteRefs, RemoteRefusal, type RemoteRefs, type RemoteWire } from './remote-refs.ts'
export { fetchBundle } from './fetch-bundle.ts'
export { fetchRemote, type RemoteFetch } from './fetch-remote.ts'
export { pushRemote, type RemotePush } from './push-remote.ts'

// Writing.
export {
  annotateTag,
  commitFiles,
  FileActionError,
  type CommitRequest,
  type FileAction,
  type PreparedChange,
  type TagRequest,
} from './write.ts'
export type { Quarantine } from './quarantine.ts'
export { commitBlob, storeBlob, type BlobCommit, type StoredBlob } from './blob-commit.ts'
export { Draft, type Merged, type NewCommit } from './draft.ts'
export { landCommits, type Landing, type Landed } from './land.ts'
export {
  mergeBase,
  mergeBases,
  mergeCommits,
  MergeProblem,
  pickCommit,
  rebaseCommits,
  revertCommit,
  squashCommits,
  tryMerge,
} from './merges.ts'
export { fetchCommits } from './fetch-commits.ts'
export { bundleOf, bundleOfKept, pushOfBundle, takeKept } from './bundle.ts'
export { recoverRepository, type RecoverOptions } from './recover.ts'
export { uploadArchive } from './upload-archive.ts'
export { repositoryHealth, type RepositoryHealth } from './health.ts'
export { snapshotOf } from './snapshot.ts'
export { optimise, storedSize } from './upkeep.ts'
