import path from 'node:path'
import type { JobPayload, JobVariable } from './payload.ts'
import type { JobFolder } from './job-folder.ts'
import { architecture } from './info.ts'

export interface JobVariables {
  /** What the job's shells get as their environment. */
  environment: Record<string, string>
  /** Contents of file variables, to be written to `path`. */
  files: { path: string; content: string }[]
  /** Everything that must not stand in the log. */
  secrets: string[]
  expand: (text: string) => string
}

// As the field's runners do it: `$$` is one dollar, unknown names and the shell's own are empty, raw text stays.
const reference = /\$(?:\{([^{}]*)\}|(\{)|([*#$@!?\-0-9])|([A-Za-z_]\w*))/g

/** One pass: what a reference brings in is not looked at again, as the server has expanded nested ones. */
export function expandReferences(text: string, valueOf: (name: string) => string | undefined) {
  if (!text.includes('$')) return text
  return text.replace(reference, (_, braced?: string, open?: string, special?: string, name?: string) => {
    if (open !== undefined) return ''
    if (special === '$' || braced === '$') return '$'
    return special === undefined ? (valueOf(braced ?? name ?? '') ?? '') : ''
  })
}

export interface RunnerFacts {
  slot: number
  projectSlot: number
  version: string
  path: string
  shell: string
}

export function jobVariables(job: JobPayload, folder: JobFolder, facts: RunnerFacts): JobVariables {
  const given = new Map<string, JobVariable>()
  for (const variable of job.variables ?? []) {
    // NUL cannot stand in an environment, and a name with `=` would become another variable.
    if (variable.key === '' || /[=\0]/.test(variable.key)) continue
    // Re-inserted, so that a later value also comes later.
    given.delete(variable.key)
    given.set(variable.key, { ...variable, value: variable.value.replaceAll('\0', '') })
  }
  for (const [key, value] of Object.entries(ownVariables(folder, facts)))
    given.set(key, { key, value, raw: true })
  for (const [key, value] of Object.entries(defaults(facts))) {
    if (!given.has(key)) given.set(key, { key, value, raw: true })
  }

  const surroundings = shellSurroundings(folder, facts)
  const filePath = (key: string) => path.join(folder.files, key.replaceAll('/', '_'))
  const valueOf = (name: string) => {
    const variable = given.get(name)
    if (variable === undefined) return surroundings[name]
    return variable.file === true ? filePath(name) : variable.value
  }
  const expand = (text: string) => expandReferences(text, valueOf)

  const environment: Record<string, string> = { ...surroundings }
  const files: JobVariables['files'] = []
  const secrets = new Set(tokensOf(job))
  for (const { key, value, raw, file, masked } of given.values()) {
    const expanded = raw === true ? value : expand(value)
    if (masked === true) secrets.add(value).add(expanded)
    if (file === true) files.push({ path: filePath(key), content: expanded })
    environment[key] = file === true ? filePath(key) : expanded
  }
  secrets.delete('')
  return { environment, files, secrets: [...secrets], expand }
}

function ownVariables(folder: JobFolder, facts: RunnerFacts) {
  return {
    CI_BUILDS_DIR: folder.builds,
    CI_PROJECT_DIR: folder.project,
    CI_CONCURRENT_ID: String(facts.slot),
    CI_CONCURRENT_PROJECT_ID: String(facts.projectSlot),
    CI_SERVER: 'yes',
    CI_SHARED_ENVIRONMENT: 'true',
    CI_JOB_STATUS: 'running',
  }
}

function defaults(facts: RunnerFacts) {
  return {
    CI: 'true',
    GITLAB_CI: 'true',
    CI_RUNNER_VERSION: facts.version,
    CI_RUNNER_EXECUTABLE_ARCH: `${process.platform}/${architecture}`,
  }
}

/** Nothing of the runner's own environment is inherited: it may hold the instance's secrets. */
function shellSurroundings(folder: JobFolder, facts: RunnerFacts): Record<string, string> {
  return {
    PATH: facts.path,
    HOME: folder.home,
    TMPDIR: folder.temporary,
    USER: folder.userName,
    LOGNAME: folder.userName,
    SHELL: facts.shell,
    LANG: 'C.UTF-8',
    GIT_TERMINAL_PROMPT: '0',
  }
}

function tokensOf(job: JobPayload) {
  const tokens = [job.token, ...(job.dependencies ?? []).map(({ token }) => token)]
  for (const { password } of job.credentials ?? []) tokens.push(password ?? '')
  try {
    const { password } = new URL(job.git_info.repo_url)
    tokens.push(password, decodeURIComponent(password))
  } catch {
    // A path or an scp-like address holds no password.
  }
  return tokens.filter((token) => typeof token === 'string' && token !== '')
}
