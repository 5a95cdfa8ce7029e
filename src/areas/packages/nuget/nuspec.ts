import { buffer } from 'node:stream/consumers'
import { SaxesParser } from 'saxes'
import { openPromise } from 'yauzl'
import { ApiError, badRequest } from '../../../kernel/errors/index.ts'
import { normalizedVersion } from './versions.ts'

export interface Dependency {
  readonly id: string
  readonly range: string
}

export interface DependencyGroup {
  readonly targetFramework: string
  readonly dependencies: readonly Dependency[]
}

/** What a package tells of itself. */
export interface Nuspec {
  readonly id: string
  readonly version: string
  readonly metadata: Readonly<Record<string, string>>
  readonly dependencyGroups: readonly DependencyGroup[]
}

/** Bytes of the file that tells it. */
const longest = 1024 * 1024

/** Reads it out of a package on disk. Throws 400 for what is no package. */
export async function nuspecOf(file: string): Promise<string> {
  try {
    await using zip = await openPackage(file)
    for await (const entry of zip.eachEntry()) {
      if (!/^[^/]+\.nuspec$/.test(entry.fileName)) continue
      if (entry.uncompressedSize > longest) throw badRequest('The nuspec is too large')
      return (await buffer(await zip.openReadStreamPromise(entry))).toString()
    }
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw badRequest('The package is broken')
  }
  throw badRequest('The package has no nuspec')
}

async function openPackage(file: string) {
  const zip = await openPromise(file, { autoClose: false })
  return Object.assign(zip, { [Symbol.asyncDispose]: async () => zip.close() })
}

const texts = ['description', 'summary', 'title', 'authors', 'tags', 'projectUrl', 'licenseUrl', 'iconUrl']
const addresses = ['projectUrl', 'licenseUrl', 'iconUrl']

/** `looseAddresses`: whatever stands where addresses should is taken. */
export function parseNuspec(xml: string, looseAddresses: boolean): Nuspec {
  const { fields, groups } = readXml(xml)
  const id = fields.get('id') ?? ''
  if (id.length > 100 || !/^[A-Za-z0-9_]+(?:[.-][A-Za-z0-9_]+)*$/.test(id))
    throw badRequest('The id of the package is invalid')
  const version = normalizedVersion(fields.get('version') ?? '')
  if (version === undefined) throw badRequest('The version of the package is invalid')
  const metadata: Record<string, string> = {}
  for (const name of texts) {
    const text = fields.get(name)
    if (text === undefined || text === '') continue
    if (text.length > 4000) throw badRequest(`${name} is too long (maximum is 4000 characters)`)
    if (!looseAddresses && addresses.includes(name) && !isAddress(text))
      throw badRequest(`${name} must be a valid URL`)
    metadata[name] = text
  }
  return { id, version, metadata, dependencyGroups: groups }
}

function isAddress(text: string): boolean {
  return text.length <= 255 && ['http:', 'https:'].includes(URL.parse(text)?.protocol ?? '')
}

/** The texts of `metadata`, and its dependencies. No entity is expanded but the five of XML. */
function readXml(xml: string) {
  const fields = new Map<string, string>()
  const groups: { targetFramework: string; dependencies: Dependency[] }[] = []
  const open: string[] = []
  let text = ''
  const parser = new SaxesParser()
  parser.on('error', (error) => {
    throw badRequest(`The nuspec is no XML: ${error.message}`)
  })
  parser.on('opentag', ({ name, attributes }) => {
    open.push(name)
    if (open.length > 20) throw badRequest('The nuspec is nested too deeply')
    text = ''
    const place = open.slice(1).join('/')
    if (place === 'metadata/dependencies/group')
      groups.push({ targetFramework: attributes['targetFramework'] ?? '', dependencies: [] })
    const listed = place === 'metadata/dependencies/dependency'
    if (listed && groups.length === 0) groups.push({ targetFramework: '', dependencies: [] })
    if (listed || place === 'metadata/dependencies/group/dependency')
      groups.at(-1)!.dependencies.push({ id: attributes['id'] ?? '', range: attributes['version'] ?? '' })
  })
  const said = (piece: string): void => {
    text += piece
  }
  parser.on('text', said)
  parser.on('cdata', said)
  parser.on('closetag', ({ name }) => {
    if (open.length === 3 && open[1] === 'metadata') fields.set(name, text.trim())
    open.pop()
  })
  parser.write(xml.replace(/^\uFEFF/, '')).close()
  return { fields, groups }
}
