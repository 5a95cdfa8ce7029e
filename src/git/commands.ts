/**
 * Every git command that exists for us, with the flags it may get. A flag that ends in `=` takes a value glued to it,
 * so that a value can never be read as an option of its own; one that ends in `*` has it right behind its letter. What
 * is not in this table does not compile.
 */
export const commands = {
  // `--strict=` lowers some fsck messages; the values are constants of ours.
  'index-pack': {
    flags: [
      '--stdin',
      '--fix-thin',
      '--strict=',
      '--max-input-size=',
      '--keep=',
      '--show-resolving-progress',
    ],
  },
  'pack-objects': { flags: ['--revs', '--stdout', '-q', '--delta-base-offset'] },
  'unpack-objects': { flags: ['-q', '--strict=', '--max-input-size='] },
  // `-z` and not `-Z`: the latter needs git 2.42.
  'cat-file': { flags: ['--batch-command', '-z', 'blob'] },
  'count-objects': { flags: ['-v'] },
  'rev-list': {
    flags: [
      '--objects',
      '--stdin',
      '--quiet',
      '--count',
      '--reverse',
      '--no-merges',
      '--all',
      '--branches',
      '--tags',
      '--not',
      '--first-parent',
      '--topo-order',
      '--fixed-strings',
      '--max-count=',
      '--skip=',
      '--max-age=',
      '--min-age=',
      '--author=',
      '--no-object-names',
      // Values are constants of ours.
      '--filter=',
      '--filter-provided-objects',
      '--grep=',
      '--regexp-ignore-case',
    ],
  },
  'diff-tree': {
    flags: [
      '--stdin',
      '-r',
      '-z',
      '--root',
      '--raw',
      '-p',
      '--full-index',
      '--no-ext-diff',
      '--no-textconv',
      '--numstat',
      '--no-renames',
      '--find-renames',
      '--diff-merges=',
    ],
  },
  'ls-tree': { flags: ['-r', '-t', '-z', '-l', '--full-tree'] },
  // Of two blobs; commits are compared by diff-tree.
  diff: { flags: ['--no-color', '--no-ext-diff', '--no-textconv'] },
  // Counts blanks, which mean something in many languages.
  'patch-id': { flags: ['--verbatim'] },
  'hash-object': { flags: ['-w', '--stdin'] },
  // The patterns come through stdin, so that none can be read as an option.
  grep: { flags: ['-n', '-I', '-i', '-F', '-z', '--full-name', '--no-color', '-f-'] },
  'merge-base': { flags: ['--is-ancestor', '--all'] },
  'merge-tree': {
    flags: ['--write-tree', '-z', '--name-only', '--no-messages', '--allow-unrelated-histories'],
  },
  blame: { flags: ['--porcelain', '-L*'] },
  shortlog: { flags: ['--summary', '--email', '--no-merges'] },
  'for-each-ref': { flags: ['--format=', '--merged=', '--contains=', '--count='] },
  archive: { flags: ['--format=', '--prefix='] },
  repack: { flags: ['--geometric=', '-d', '-l', '-q'] },
  'upload-pack': { flags: ['--stateless-rpc', '--strict'] },
  'upload-archive': { flags: [] },
  init: { flags: ['--bare', '--quiet', '--initial-branch=', '--template=', '--object-format='] },
  'symbolic-ref': { flags: ['HEAD'] },
  // The only command that moves refs; used by update-refs.ts alone.
  'update-ref': { flags: ['--stdin', '-z'] },
} as const satisfies Record<string, { flags: readonly string[] }>

export type CommandName = keyof typeof commands

/** A flag as the table allows it; `--max-count=` becomes `--max-count=${string}`. */
export type Flag<C extends CommandName> = Valued<(typeof commands)[C]['flags'][number]>
type Valued<F extends string> = F extends `${infer Name}=`
  ? `${Name}=${string}`
  : F extends `${infer Letter}*`
    ? `${Letter}${string}`
    : F

/** The same question at run time, for values that went through a cast. */
export function allows(command: CommandName, flag: string): boolean {
  const end = flag.indexOf('=')
  const name = flag.startsWith('--') && end > 0 ? flag.slice(0, end + 1) : flag
  const known: readonly string[] = commands[command].flags
  return known.includes(name) || known.some((one) => one.endsWith('*') && flag.startsWith(one.slice(0, -1)))
}

/** Refs that only the service writes; a client that pushes to them is refused. */
export const internalPrefixes = [
  'refs/merge-requests/',
  'refs/pipelines/',
  'refs/environments/',
  'refs/keep-around/',
  'refs/tmp/',
  'refs/remotes/',
] as const

/** Of those, the ones that a client does not even see when it fetches. */
export const unseenPrefixes = ['refs/keep-around/', 'refs/tmp/', 'refs/remotes/'] as const

/**
 * Configuration that holds for every command. The system's and the user's files are not read, and a repository's own
 * file is only ever written by us, so this is the whole of it.
 */
export const configuration: readonly string[] = [
  'safe.directory=*',
  'core.hooksPath=/dev/null',
  'core.attributesFile=/dev/null',
  'core.quotePath=false',
  'core.logAllRefUpdates=false',
  'core.bigFileThreshold=50m',
  // A lock is held for milliseconds; two pushes to one repository should wait for one another, not fail.
  'core.filesRefLockTimeout=2000',
  'core.packedRefsTimeout=10000',
  'gc.auto=0',
  'maintenance.auto=false',
  'protocol.allow=never',
  'uploadpack.allowFilter=true',
  'uploadpack.allowAnySHA1InWant=true',
  'uploadpack.keepAlive=5',
]

/** For transfers only; our own reading of all refs must see them. */
export const hidden: readonly string[] = unseenPrefixes.map(
  (prefix) => `uploadpack.hideRefs=${prefix.slice(0, -1)}`,
)

/** References and objects are on the disk before a push is reported as done; loose objects in one sync together. */
export const durable: readonly string[] = ['core.fsync=committed,loose-object', 'core.fsyncMethod=batch']
export const volatile: readonly string[] = ['core.fsync=none']
