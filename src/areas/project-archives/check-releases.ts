import { tagRef } from '../../git/index.ts'
import { ApiError } from '../../kernel/errors/index.ts'
import { checkBadgeUrls } from '../badges/index.ts'
import { checkReleaseLink } from '../releases/index.ts'
import type { BadgeRecord, ProtectedTagRecord, ReleaseRecord } from './format.ts'
import { longestTitle, reader, RecordFault } from './record-reader.ts'

const { objectOf, listOf, text, textOrNull, oneOf, whole, time, oid } = reader

const linkTypes = ['other', 'runbook', 'image', 'package'] as const
const longestUrl = 4096
const mostLinks = 1000

/** What a request may not say, a record may not either. */
function asRequested<T>(check: () => T, name: string): T {
  try {
    return check()
  } catch (error) {
    if (error instanceof ApiError) throw new RecordFault(`${name} is not usable`)
    throw error
  }
}

export function checkRelease(value: unknown): ReleaseRecord {
  const raw = objectOf(value)
  const tag = text(raw, 'tag', longestTitle)
  if (tagRef(tag) === undefined) throw new RecordFault('tag is none')
  return {
    tag,
    name: textOrNull(raw, 'name', longestTitle),
    description: textOrNull(raw, 'description', 1_000_000),
    sha: oid(raw, 'sha'),
    author: textOrNull(raw, 'author', longestTitle),
    created_at: time(raw, 'created_at'),
    released_at: time(raw, 'released_at'),
    milestones: listOf(raw['milestones'], 'milestones', (iid) => whole({ iid }, 'iid', 1), mostLinks),
    links: listOf(
      raw['links'],
      'links',
      (entry) => {
        const link = objectOf(entry)
        const filepath = textOrNull(link, 'filepath', longestTitle)
        const given = {
          name: text(link, 'name', longestTitle),
          url: text(link, 'url', longestUrl),
          ...(filepath !== null && { filepath }),
          link_type: oneOf(link, 'link_type', linkTypes),
        }
        return asRequested(() => checkReleaseLink(given), 'a link')
      },
      mostLinks,
    ),
  }
}

export function checkBadge(value: unknown): BadgeRecord {
  const raw = objectOf(value)
  const urls = { link_url: text(raw, 'link_url', longestUrl), image_url: text(raw, 'image_url', longestUrl) }
  asRequested(() => checkBadgeUrls(urls), 'an address')
  return { name: textOrNull(raw, 'name', longestTitle), ...urls }
}

export function checkProtectedTag(value: unknown): ProtectedTagRecord {
  const raw = objectOf(value)
  const level = (access_level: unknown): number => {
    const found = whole({ access_level }, 'access_level', 0)
    if (![0, 30, 40, 60].includes(found)) throw new RecordFault('access_level is none')
    return found
  }
  return { name: text(raw, 'name', longestTitle), levels: listOf(raw['levels'], 'levels', level, 50) }
}
