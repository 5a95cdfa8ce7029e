import type { SettingValues } from '../../settings/index.ts'

/** An instance has two indices: of what people say and do, and of what lies in repositories. */
export type Part = 'things' | 'code'
export const parts = ['things', 'code'] as const

export interface Generation {
  /** Of this instance: several may share a cluster. */
  readonly name: string
  readonly generation: number
}

export const indexOf = ({ name, generation }: Generation, part: Part): string =>
  `${name}-${part}-${generation}`

/** By which the generation is found that searches look into. */
export const aliasOf = ({ name }: Pick<Generation, 'name'>, part: Part): string => `${name}-${part}`

const text = { type: 'text', analyzer: 'words' } as const
const exact = { type: 'keyword', ignore_above: 8191 } as const
const id = { type: 'long' } as const

const properties: Readonly<Record<Part, object>> = {
  things: {
    kind: exact,
    record_id: id,
    project_id: id,
    iid: id,
    title: text,
    path: text,
    text,
    state: exact,
    confidential: { type: 'boolean' },
    created_at: { type: 'date' },
  },
  code: {
    kind: exact,
    project_id: id,
    wiki_id: id,
    title: text,
    path: { ...text, fields: { exact } },
    filename: exact,
    extension: exact,
    sha: exact,
    text,
    created_at: { type: 'date' },
  },
}

/** What an index is made from. Words are runs of letters, digits and low lines, in code as in speech; accents do not count. */
export function bodyOf(part: Part, { elasticsearch_shards, elasticsearch_replicas }: SettingValues): object {
  return {
    settings: {
      number_of_shards: elasticsearch_shards,
      number_of_replicas: elasticsearch_replicas,
      analysis: {
        tokenizer: { runs: { type: 'pattern', pattern: '[^\\p{L}\\p{N}_]+' } },
        analyzer: { words: { type: 'custom', tokenizer: 'runs', filter: ['lowercase', 'asciifolding'] } },
      },
    },
    mappings: {
      dynamic: false,
      // Texts are found in the index, and shown from the repository.
      ...(part === 'code' && { _source: { excludes: ['text'] } }),
      properties: properties[part],
    },
  }
}

export interface Counted {
  readonly shards: number
  readonly replicas: number
}

/** What the cluster says of indices, by their names. */
export function countsOf(answer: unknown, name: string): Counted | undefined {
  const found = (answer as Record<string, { settings?: { index?: Record<string, unknown> } } | undefined>)[
    name
  ]
  const { number_of_shards: shards, number_of_replicas: replicas } = found?.settings?.index ?? {}
  if (shards === undefined || replicas === undefined) return undefined
  return { shards: Number(shards), replicas: Number(replicas) }
}
