import { isMap, type DataMap } from '../config/data.ts'
import { entryText } from '../messages.ts'
import {
  attribute,
  collect,
  entry,
  mapOf,
  matching,
  oneOf,
  readFields,
  string,
  stringOrStrings,
} from './read.ts'
import type { Read, Spot } from './spot.ts'

export interface ReleaseLink {
  name: string
  url: string
  filepath?: string
  linkType?: string
}

export interface Release {
  tagName: string
  description: string
  tagMessage?: string
  name?: string
  ref?: string
  milestones?: string[]
  releasedAt?: string
  assets?: { links?: ReleaseLink[] }
}

const linkFields = {
  name: attribute(string),
  url: attribute(string),
  filepath: attribute(string),
  link_type: attribute(oneOf(['other', 'runbook', 'image', 'package'])),
}

const links: Read<ReleaseLink[]> = (value, spot) => {
  if (!Array.isArray(value)) return spot.fail(entryText.array)
  return collect(value, (link) => {
    const at = spot.child('link')
    if (!isMap(link)) return at.fail(entryText.hash)
    const found = readFields(linkFields, link, at, needs(['name', 'url']))
    return { ...found, name: found.name ?? '', url: found.url ?? '' }
  })
}

const fields = {
  tag_name: attribute(string),
  tag_message: attribute(string),
  name: attribute(string),
  description: attribute(string),
  ref: attribute(matching(isRef, entryText.ref)),
  milestones: attribute(stringOrStrings),
  released_at: attribute(matching(isDatetime, entryText.datetime)),
  assets: entry(mapOf({ links: entry(links) })),
}

export const release: Read<Release> = (value, spot) => {
  if (!isMap(value)) return spot.fail(entryText.hash)
  const found = readFields(fields, value, spot, needs(['tag_name', 'description']))
  return { ...found, tagName: found.tagName ?? '', description: found.description ?? '' }
}

function needs(keys: readonly string[]): (value: DataMap, spot: Spot) => void {
  return (value, spot) => {
    for (const key of keys) if (!value[key]) spot.key(key).fail(entryText.blank)
  }
}

/** A variable is known only when the job runs. */
function isRef(value: unknown): value is string {
  if (typeof value !== 'string' || value === '') return false
  return value.includes('$') || !/[\s\p{Cc}~^:?*[\\]|\.\.|@\{|\/\/|^[-/.]|[/.]$|\.lock$/u.test(value)
}

function isDatetime(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    (value.includes('$') || (/^\d{4}-\d\d-\d\d([T ]|$)/.test(value) && !Number.isNaN(Date.parse(value))))
  )
}
