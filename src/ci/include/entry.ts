import { ConfigError } from '../config/config-error.ts'
import { isMap, type Data, type DataMap } from '../config/data.ts'
import { includeRules, type Rule } from '../entries/rules.ts'
import { Spot } from '../entries/spot.ts'
import { entryText, includeText } from '../messages.ts'
import type { IncludeVariables } from './context.ts'

/** Where to find an included file, with all variables put in. */
export type Source =
  | { kind: 'local'; path: string }
  | { kind: 'project'; project: string; ref: string | null; path: string }
  | { kind: 'remote'; url: string; integrity: string | null; cache: string | boolean | null }
  | { kind: 'template'; name: string }
  | { kind: 'component'; address: string }
  | { kind: 'artifact'; path: string; job: string | null }

export type SourceKind = Source['kind']

/** One element of `include`, not yet expanded. */
export interface IncludeEntry {
  given: DataMap
  rules: Rule[] | null
  inputs: DataMap | null
}

export const sourceKinds: readonly SourceKind[] = [
  'local',
  'project',
  'remote',
  'template',
  'component',
  'artifact',
]
const otherKeys = ['file', 'ref', 'integrity', 'cache', 'job', 'inputs', 'rules']

/** The elements of `include`, which may be one alone, in lists within lists. Throws a ConfigError. */
export function readIncludes(value: Data | undefined, variables: IncludeVariables): IncludeEntry[] {
  const all: unknown[] = Array.isArray(value) ? value.flat(10) : [value ?? []].flat()
  return all.map((one) => {
    // Whether a text is an address may be hidden in a variable.
    if (typeof one === 'string') return { given: ofText(variables.fill(one)), rules: null, inputs: null }
    if (!isMap(one)) throw new ConfigError(includeText.malformed)
    return { given: one, rules: rulesOf(one), inputs: inputsOf(one) }
  })
}

/** The files that an element names: several only for `project`. Throws a ConfigError with the first fault. */
export function sourcesOf(
  { given }: IncludeEntry,
  variables: IncludeVariables,
  allowed: readonly SourceKind[] = sourceKinds,
): Source[] {
  const kinds = allowed.filter((kind) => isThere(given[kind]))
  const [kind] = kinds
  if (kind === undefined) {
    throw new ConfigError(includeText.noKind(variables.mask(JSON.stringify(given)), allowed))
  }
  if (kinds.length > 1) throw new ConfigError(includeText.severalKinds(allowed))
  const unknown = Object.keys(given).filter((key) => key !== kind && !otherKeys.includes(key))
  if (unknown.length > 0)
    throw new ConfigError(includeText.entry(entryText.unknownKeys(unknown, [...allowed, ...otherKeys])))
  if (isThere(given['integrity']) && kind !== 'remote') {
    throw new ConfigError(includeText.entry(includeText.integrityMisplaced))
  }
  const fill = (value: Data | undefined) => (typeof value === 'string' ? variables.fill(value) : value)
  return readers[kind](given, fill, variables)
}

type Fill = (value: Data | undefined) => Data | undefined
type Reader = (given: DataMap, fill: Fill, variables: IncludeVariables) => Source[]

const readers: Record<SourceKind, Reader> = {
  local(given, fill, variables) {
    return [{ kind: 'local', path: withoutSlashes(yamlName(fill(given['local']), variables)) }]
  },
  project(given, fill, variables) {
    const { file = null } = given
    const files = Array.isArray(file) ? file : [file]
    if (file === null || files.length === 0) throw new ConfigError(includeText.entry(includeText.noFile))
    const [project, ref] = [fill(firstOf(given['project'])), fill(given['ref']) ?? null]
    if (typeof project !== 'string') throw notText(project, variables)
    if (ref !== null && typeof ref !== 'string') throw notText(ref, variables)
    return files.map((one) => {
      const path = withoutSlashes(yamlName(fill(one), variables))
      return { kind: 'project', project: project.toLowerCase(), ref, path }
    })
  },
  remote(given, fill, variables) {
    const url = yamlName(fill(given['remote']), variables)
    if (!isAddress(url)) throw new ConfigError(includeText.badAddress(variables.mask(url)))
    const { integrity = null, cache = null } = given
    if (integrity !== null && (typeof integrity !== 'string' || !integrity.startsWith('sha256-'))) {
      throw new ConfigError(includeText.entry(includeText.integrityPrefix))
    }
    if (integrity !== null && !/^[A-Za-z0-9+/]+={0,2}$/.test(integrity.slice('sha256-'.length))) {
      throw new ConfigError(includeText.entry(includeText.integrityEncoding))
    }
    const known = typeof cache === 'string' || typeof cache === 'boolean'
    return [{ kind: 'remote', url, integrity, cache: known ? cache : null }]
  },
  template(given, fill, variables) {
    const name = yamlName(fill(given['template']), variables)
    if (!name.endsWith('.gitlab-ci.yml')) throw new ConfigError(includeText.badTemplate(variables.mask(name)))
    return [{ kind: 'template', name }]
  },
  component(given, fill, variables) {
    const address = fill(given['component'])
    if (typeof address !== 'string') throw notText(address, variables)
    return [{ kind: 'component', address }]
  },
  artifact(given, fill, variables) {
    const path = yamlName(fill(given['artifact']), variables)
    const job = fill(given['job'])
    return [{ kind: 'artifact', path, job: typeof job === 'string' && job !== '' ? job : null }]
  },
}

function ofText(text: string): DataMap {
  return /^https?:\/\//.test(text) ? { remote: text } : { local: text }
}

function rulesOf(given: DataMap): Rule[] | null {
  const { rules = null } = given
  if (rules === null) return null
  const errors: string[] = []
  const read = includeRules(rules, new Spot(errors, 'include', 'rules'))
  if (read === undefined || errors.length > 0) throw new ConfigError(errors[0] ?? includeText.malformed)
  return read
}

function inputsOf(given: DataMap): DataMap | null {
  const { inputs = null } = given
  if (inputs !== null && !isMap(inputs)) throw new ConfigError(includeText.inputs)
  return inputs
}

function yamlName(value: Data | undefined, variables: IncludeVariables): string {
  if (typeof value !== 'string') throw notText(value, variables)
  const name = value.slice(value.lastIndexOf('/') + 1)
  if (!/.\.ya?ml$/i.test(name)) throw new ConfigError(includeText.notYaml(variables.mask(value)))
  return value
}

function notText(value: Data | undefined, variables: IncludeVariables): ConfigError {
  return new ConfigError(includeText.notText(variables.mask(JSON.stringify(value ?? null))))
}

function isAddress(url: string): boolean {
  const parsed = URL.parse(url)
  return parsed !== null && ['http:', 'https:'].includes(parsed.protocol) && parsed.hostname !== ''
}

const isThere = (value: Data | undefined) => value !== undefined && value !== null
const firstOf = (value: Data | undefined) => (Array.isArray(value) ? value[0] : value)
const withoutSlashes = (path: string) => path.replace(/^\/+/, '')
