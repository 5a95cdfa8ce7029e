/** Why the embedded database cannot run: one line for the operator that also says how to mend it. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError'
}

const fileReasons: Record<string, string> = {
  EACCES: 'permission denied; make it readable and writable for the user Guildhall runs as',
  EPERM: 'permission denied; make it readable and writable for the user Guildhall runs as',
  EROFS: 'the file system is read-only; put DATA_DIR on a writable one',
  ENOSPC: 'the disk is full; free some space and start again',
  EDQUOT: 'the disk quota is used up; free some space and start again',
  EMFILE: 'too many open files; raise the limit of open files and start again',
  ENOTDIR: 'a part of this path is a file, not a folder; choose another DATA_DIR',
  EEXIST: 'a file stands where a folder must be; move it away or choose another DATA_DIR',
  EBUSY: 'it is in use, perhaps a mount point; mount its parent folder instead',
}

export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/**
 * Turns what the file system said (full disk, missing permission) into a line for the operator. Everything else,
 * which is a mistake of ours, comes back as it is.
 */
export function explainFileError(error: unknown, directory: string): unknown {
  const reason = fileReasons[errorCode(error) ?? '']
  if (error instanceof EmbeddedPostgresError || reason === undefined) return error
  const path =
    error instanceof Error && 'path' in error && typeof error.path === 'string' ? error.path : directory
  return new EmbeddedPostgresError(`The embedded database cannot use ${path}: ${reason}.`, { cause: error })
}
