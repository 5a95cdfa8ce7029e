import type { JobPayload } from './payload.ts'
import { quote, sayGreen } from './script.ts'

export interface Sources {
  /** Commands for one shell. */
  script: string
  environment: Record<string, string>
  attempts: number
}

type Environment = Readonly<Record<string, string | undefined>>

/** Everything git has to do before the job's own commands, for one shell started in the builds folder. */
export function getSources(
  job: JobPayload,
  project: string,
  environment: Environment,
): Sources | { skipped: string } {
  const strategy = environment.GIT_STRATEGY?.trim().toLowerCase() || 'fetch'
  if (strategy === 'none') return { skipped: 'Skipping Git repository setup' }
  if (strategy === 'empty')
    return { skipped: 'Skipping Git repository setup and creating an empty build directory' }
  if (strategy !== 'fetch' && strategy !== 'clone') throw new RangeError(`unknown GIT_STRATEGY: ${strategy}`)
  const repository = quote(`${project}/.git`)
  const lines = [
    ...initLines(job, project),
    ...fetchLines(job, environment),
    ...checkoutLines(job, environment),
  ]
  return {
    // A second attempt must not stumble over the first.
    script: [
      `if [ -e ${repository} ]; then rm -rf ${repository}; fi`,
      ...lines,
      ...submoduleLines(environment),
      ...largeFileLines(environment),
    ].join('\n'),
    environment: {
      GIT_LFS_SKIP_SMUDGE: '1',
      ...certificate(environment),
      ...fetchConfig(job, environment),
    },
    attempts: clamp(Number(environment.GET_SOURCES_ATTEMPTS ?? 1), 1, 10),
  }
}

function initLines({ git_info: git }: JobPayload, project: string) {
  const format = git.repo_object_format === 'sha256' ? ' --object-format=sha256' : ''
  return [
    `git -c init.defaultBranch=none init --template=${format} ${quote(project)}`,
    `cd ${quote(project)}`,
    `git remote add origin ${quote(withoutPassword(git.repo_url))}`,
    sayGreen('Created fresh repository.'),
  ]
}

function depthOf({ git_info: git }: JobPayload, environment: Environment) {
  const depth = Number(environment.GIT_DEPTH ?? git.depth ?? 0)
  return Number.isSafeInteger(depth) && depth > 0 ? depth : 0
}

function fetchLines(job: JobPayload, environment: Environment) {
  const { refspecs, sha } = job.git_info
  const depth = depthOf(job, environment)
  const flags = splitFlags(environment.GIT_FETCH_EXTRA_FLAGS, '--prune --quiet')
  if (depth > 0) flags.unshift(`--depth=${depth}`)
  const options = ['--no-recurse-submodules', ...flags].map(quote).join(' ')
  const specs = refspecs?.length ? refspecs : [sha]
  const title = depth > 0 ? `Fetching changes with git depth set to ${depth}...` : 'Fetching changes...'
  return [sayGreen(title), `git fetch ${options} -- origin ${specs.map(quote).join(' ')}`]
}

function checkoutLines(job: JobPayload, environment: Environment) {
  const { sha, ref } = job.git_info
  if (isFalse(environment.GIT_CHECKOUT)) return [sayGreen('Skipping Git checkout')]
  if (!/^[0-9a-f]{7,64}$/i.test(sha)) throw new RangeError(`not a commit: ${sha}`)
  const depth = depthOf(job, environment)
  const alone = `git fetch --quiet --no-recurse-submodules ${depth > 0 ? `--depth=${depth} ` : ''}-- origin ${sha}`
  const checkout = `git -c submodule.recurse=false checkout -f -q --detach ${sha}`
  const lines = [
    sayGreen(`Checking out ${sha.slice(0, 8)} as detached HEAD (ref is ${ref})...`),
    // The commit may lie deeper than what the refs brought.
    `${checkout} 2>/dev/null || { ${alone}; ${checkout}; }`,
  ]
  const clean = environment.GIT_CLEAN_FLAGS?.trim()
  // The folder is new: only who asks for other flags can mean something by it.
  if (clean && clean !== 'none') lines.push(`git clean ${splitFlags(clean, '').map(quote).join(' ')}`)
  return lines
}

function submoduleLines(environment: Environment) {
  const strategy = environment.GIT_SUBMODULE_STRATEGY?.trim().toLowerCase() || 'none'
  if (strategy === 'none') return ['printf "\\n"', sayGreen('Skipping Git submodules setup')]
  if (strategy !== 'normal' && strategy !== 'recursive') {
    throw new RangeError(`unknown GIT_SUBMODULE_STRATEGY: ${strategy}`)
  }
  const recursive = strategy === 'recursive' ? ' --recursive' : ''
  const depth = Number(environment.GIT_SUBMODULE_DEPTH ?? environment.GIT_DEPTH ?? 0)
  const flags = splitFlags(environment.GIT_SUBMODULE_UPDATE_FLAGS, '')
  if (Number.isSafeInteger(depth) && depth > 0) flags.push(`--depth=${depth}`)
  const paths = splitFlags(environment.GIT_SUBMODULE_PATHS, '')
  const where = paths.length > 0 ? ` -- ${paths.map(quote).join(' ')}` : ''
  return [
    sayGreen(
      recursive ? 'Updating/initializing submodules recursively...' : 'Updating/initializing submodules...',
    ),
    'git submodule --quiet init',
    `git submodule --quiet sync${recursive}`,
    `git submodule update --init${recursive} ${flags.map(quote).join(' ')}${where}`,
  ]
}

function largeFileLines(environment: Environment) {
  if (isTrue(environment.GIT_LFS_SKIP_SMUDGE) || isFalse(environment.GIT_CHECKOUT)) return []
  return ['if command -v git-lfs >/dev/null; then git lfs pull; fi']
}

/**
 * Configuration for the fetch alone, through the environment: the token never comes into a file. The header is sent
 * with the first request, where a password in the address would cost a refused one first.
 */
function fetchConfig({ git_info: git }: JobPayload, environment: Environment) {
  const config: [string, string][] = [
    ['gc.auto', '0'],
    ['maintenance.auto', 'false'],
    ['fetch.recurseSubmodules', 'false'],
    ['advice.detachedHead', 'false'],
  ]
  const login = loginOf(git.repo_url)
  if (login !== undefined) {
    const basic = Buffer.from(`${login.user}:${login.password}`).toString('base64')
    config.push([`http.${login.origin}/.extraHeader`, `Authorization: Basic ${basic}`])
  }
  return gitConfig(config, environment)
}

/** What lets `git fetch origin` work in the job's own commands: for exactly this repository. */
export function scriptConfig({ git_info: git }: JobPayload, environment: Environment) {
  if (loginOf(git.repo_url) === undefined) return {}
  return gitConfig([[`url.${git.repo_url}.insteadOf`, withoutPassword(git.repo_url)]], environment)
}

/** Appended to what the job's variables already configure this way. */
function gitConfig(config: [string, string][], environment: Environment) {
  const given = Number(environment.GIT_CONFIG_COUNT ?? 0)
  const first = Number.isSafeInteger(given) && given > 0 ? given : 0
  const entries: Record<string, string> = { GIT_CONFIG_COUNT: String(first + config.length) }
  for (const [index, [key, value]] of config.entries()) {
    entries[`GIT_CONFIG_KEY_${first + index}`] = key
    entries[`GIT_CONFIG_VALUE_${first + index}`] = value
  }
  return entries
}

function certificate(environment: Environment): Record<string, string> {
  const file = environment.CI_SERVER_TLS_CA_FILE
  return file ? { GIT_SSL_CAINFO: file } : {}
}

/** The header of the fetch holds the token in another form, which must not be shown either. */
export function encodedLogin({ git_info: git }: JobPayload) {
  const login = loginOf(git.repo_url)
  return login === undefined ? [] : [Buffer.from(`${login.user}:${login.password}`).toString('base64')]
}

function loginOf(address: string) {
  const url = URL.parse(address)
  if (url === null || !/^https?:$/.test(url.protocol) || url.password === '') return undefined
  return {
    origin: url.origin,
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
  }
}

function withoutPassword(address: string) {
  if (loginOf(address) === undefined) return address
  const url = new URL(address)
  url.username = ''
  url.password = ''
  return url.href
}

function splitFlags(text: string | undefined, standard: string) {
  const flags = text?.trim() || standard
  return flags === 'none' ? [] : flags.split(/\s+/).filter((flag) => flag !== '')
}

export function isFalse(text: string | undefined) {
  return ['false', 'f', '0'].includes(text?.trim().toLowerCase() ?? '')
}

export function isTrue(text: string | undefined) {
  return ['true', 't', '1'].includes(text?.trim().toLowerCase() ?? '')
}

function clamp(value: number, least: number, most: number) {
  return Number.isFinite(value) ? Math.min(most, Math.max(least, Math.trunc(value))) : least
}
