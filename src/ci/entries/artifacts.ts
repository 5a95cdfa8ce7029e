import { isMap, type DataMap } from '../config/data.ts'
import { entryText } from '../messages.ts'
import type { ArtifactAccess, ArtifactUpload } from '../types.ts'
import {
  attribute,
  boolean,
  durationText,
  entry,
  mapOf,
  oneOf,
  readFields,
  requireKeys,
  string,
  stringOrStrings,
  strings,
  type Values,
} from './read.ts'
import { reportTypes } from './reports.ts'
import type { Read, Spot } from './spot.ts'

export interface Artifacts {
  uploads: ArtifactUpload[]
  access: ArtifactAccess
  exposeAs: string | null
}

/** What the upload of every kind happens for. */
export const outcomes = ['on_success', 'on_failure', 'always'] as const

const fields = {
  name: attribute(string),
  untracked: attribute(boolean),
  paths: attribute(strings),
  exclude: attribute(strings),
  when: attribute(oneOf(outcomes)),
  expire_in: attribute(durationText('never')),
  expose_as: attribute(exposeAs),
  public: attribute(boolean),
  access: attribute(oneOf(['all', 'developer', 'maintainer', 'none'] as const)),
  reports: entry(reports),
}

export const artifacts: Read<Artifacts> = (value, spot) => {
  if (!isMap(value)) return spot.fail(entryText.hash)
  const found = readFields(fields, value, spot, checkTogether)
  return {
    uploads: uploadsOf(found),
    access: found.access ?? (found.public === false ? 'developer' : 'all'),
    exposeAs: found.exposeAs ?? null,
  }
}

function checkTogether(value: DataMap, spot: Spot): void {
  if ('public' in value && 'access' in value) spot.fail(entryText.together(['public', 'access']))
  if (!('expose_as' in value)) return
  const { paths } = value
  if (!Array.isArray(paths)) spot.key('expose_as').fail(entryText.exposeAsPaths)
  else if (paths.some((path) => typeof path === 'string' && path.includes('*'))) {
    spot.key('paths').fail(entryText.exposeAsGlob)
  } else if (paths.some((path) => typeof path === 'string' && path.includes('$'))) {
    spot.key('paths').fail(entryText.exposeAsVariable)
  }
}

function exposeAs(value: unknown, spot: Spot): string | undefined {
  if (typeof value !== 'string') return spot.fail(entryText.string)
  if (value.length > 100) return spot.fail(entryText.tooLong(100))
  return /^[\w -]+$/.test(value) ? value : spot.fail(entryText.exposeAsCharacters)
}

type Reports = Map<string, string[]>

function reports(value: unknown, spot: Spot): Reports | undefined {
  if (!isMap(value)) return spot.fail(entryText.hash)
  const { coverage_report: coverage, ...others } = value
  const found: Reports = new Map()
  const unknown = Object.keys(others).filter(
    (type) => !reportTypes.has(type) || coverageFormats.includes(type),
  )
  if (unknown.length > 0) return spot.fail(entryText.unknownKeys(unknown, reportKeys))
  for (const [type, given] of Object.entries(others)) {
    if (given === null) continue
    found.set(type, stringOrStrings(given, spot.key(type)) ?? [])
  }
  if (coverage !== undefined && coverage !== null) {
    const report = coverageReport(coverage, spot.child('coverage_report'))
    if (report?.coverageFormat !== undefined) found.set(report.coverageFormat, [report.path ?? ''])
  }
  return found
}

const coverageFormats = ['cobertura', 'jacoco']
const reportKeys = [
  ...[...reportTypes.keys()].filter((type) => !coverageFormats.includes(type)),
  'coverage_report',
]
const coverageReport = mapOf(
  { coverage_format: attribute(oneOf(coverageFormats)), path: attribute(string) },
  (value, spot) => requireKeys(value, ['coverage_format', 'path'], spot),
)

/** The archive first, then one upload for each report. */
function uploadsOf(found: Values<typeof fields>): ArtifactUpload[] {
  const {
    name = null,
    untracked = false,
    paths = [],
    exclude = [],
    when = 'on_success',
    expireIn = null,
  } = found
  const uploads: ArtifactUpload[] = []
  if (untracked || paths.length > 0) {
    const kind = { artifactType: 'archive', artifactFormat: 'zip' } as const
    uploads.push({ name, untracked, paths, exclude, when, expireIn, ...kind })
  }
  for (const [type, reportPaths] of found.reports ?? []) {
    const report = reportTypes.get(type)!
    uploads.push({
      name: report.fileName,
      untracked: false,
      paths: reportPaths,
      exclude: [],
      when: 'always',
      expireIn,
      artifactType: type,
      artifactFormat: report.format,
    })
  }
  return uploads
}
