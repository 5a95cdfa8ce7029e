import type { Step } from './step-store.ts'

/** The kinds of hosts, as `import_type` tells them. */
export const hostKinds = ['github', 'bitbucket', 'bitbucket_server'] as const
export type HostKind = (typeof hostKinds)[number]

/** What settings call each as a source, and the limit of what is done at once for it. */
export const settingsOf = {
  github: { source: 'importer_a', limit: 'concurrent_importer_a_import_jobs_limit' },
  bitbucket: { source: 'importer_b', limit: 'concurrent_importer_b_import_jobs_limit' },
  bitbucket_server: { source: 'importer_b_server', limit: 'concurrent_importer_b_server_import_jobs_limit' },
} as const satisfies Record<HostKind, { readonly source: string; readonly limit: string }>

/** By kind, where the configuration has a host in the place of the public one. */
export type PublicHosts = Readonly<Partial<Record<HostKind, string>>>

/** What is kept of credentials. */
export interface Credentials {
  readonly user?: string
  readonly secret: string
}

export function basic({ user = '', secret }: Credentials): string {
  return `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`
}

/** Scheme, host and folder of an address that somebody gave; undefined where it is none. */
export function plainAddress(text: string): string | undefined {
  const url = text.length > 2048 ? null : URL.parse(text)
  const plain = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  return plain && url.search === '' && url.hash === ''
    ? `${url.origin}${url.pathname.replace(/\/+$/, '')}`
    : undefined
}

/** Addresses that people have shown on a public host are theirs; of another host whoever runs it says whose they are. */
export function isPublic({ kind, address }: Pick<Step, 'kind' | 'address'>): boolean {
  return kind !== 'bitbucket_server' && address === null
}
