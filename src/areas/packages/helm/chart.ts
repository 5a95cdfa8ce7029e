import semver from 'semver'
import { parse } from 'yaml'
import { badRequest } from '../../../kernel/errors/index.ts'
import { storedJson } from '../stored-json.ts'

/** What a chart tells of itself, as the index repeats it. */
export interface Chart {
  readonly name: string
  readonly version: string
  readonly metadata: Readonly<Record<string, unknown>>
}

/** What clients know of a Chart.yaml; anything else is not repeated. */
const known = [
  ...['apiVersion', 'name', 'version', 'kubeVersion', 'description', 'type', 'keywords', 'home', 'sources'],
  ...['dependencies', 'maintainers', 'icon', 'appVersion', 'deprecated', 'annotations', 'condition', 'tags'],
]

export function chartOf(text: string): Chart {
  const read = (): unknown => {
    try {
      return parse(text, { maxAliasCount: 20, schema: 'core' }) as unknown
    } catch {
      throw badRequest('Chart.yaml is no YAML')
    }
  }
  const content = read()
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    throw badRequest('Chart.yaml is invalid')
  const { name, version, apiVersion } = content as Record<string, unknown>
  if (
    typeof name !== 'string' ||
    name.length > 255 ||
    !/^[A-Za-z0-9][\w.-]*$/.test(name) ||
    name.includes('..')
  )
    throw badRequest('The name of the chart is invalid')
  if (
    typeof version !== 'string' ||
    version.length > 255 ||
    semver.valid(version) === null ||
    /\s|=/.test(version)
  )
    throw badRequest('The version of the chart is invalid')
  if (apiVersion !== 'v1' && apiVersion !== 'v2') throw badRequest('The apiVersion of the chart is invalid')
  const metadata = Object.fromEntries(
    Object.entries(content).filter(([key, value]) => known.includes(key) && value !== null),
  )
  if (storedJson(metadata).length > 100_000) throw badRequest('Chart.yaml is too large')
  return { name, version, metadata }
}
