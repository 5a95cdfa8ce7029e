import { isIP } from 'node:net'
import { invalid } from '../../kernel/errors/index.ts'

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const hostname = new RegExp(`^(?:${label}\\.)+${label}$`)

/**
 * A domain as it is kept. Refused are names that are none, those below which sites have their names anyway, and where
 * the service itself is: what a site does there it would do as whoever looks at it.
 */
export function domainOf(
  written: string,
  { sites, own }: { readonly sites: string; readonly own: readonly string[] },
): string {
  const domain = written.trim().toLowerCase()
  if (domain.length > 253 || !hostname.test(domain) || isIP(domain) !== 0 || own.includes(domain))
    throw invalid({ domain: ['is invalid'] })
  if (domain === sites || domain.endsWith(`.${sites}`))
    throw invalid({ domain: [`*.${sites} is restricted`] })
  return domain
}

/** Connections are encrypted by what stands in front of the service, which keeps the certificates. */
export function checkEncryption(params: {
  readonly certificate?: string | undefined
  readonly key?: string | undefined
  readonly auto_ssl_enabled?: boolean | undefined
}): void {
  const faults: Record<string, string[]> = {}
  for (const name of ['certificate', 'key'] as const)
    if ((params[name] ?? '') !== '') faults[name] = ['is kept by the proxy in front of the service']
  if (params.auto_ssl_enabled === true) faults['auto_ssl_enabled'] = ['is not available']
  if (Object.keys(faults).length > 0) throw invalid(faults)
}
