import { RE2JS } from 're2js'
import { isAdministrator, type Actor } from '../../access/index.ts'
import { forbidden, invalid } from '../../kernel/errors/index.ts'
import type { Outbound } from '../../kernel/outbound/index.ts'
import type { Settings } from '../../settings/index.ts'
import { readAddress, webAddress, type Address, type Scheme } from './address.ts'
import { readHostKey } from './host-keys.ts'

const mostHostKeys = 20

/** Where mirrors are switched off, only administrators set them up; those that there are go on. */
export function requireMirroring({ values }: Settings, actor: Actor): void {
  if (!values.mirror_available && !isAdministrator(actor)) throw forbidden()
}

/** An address of one of these schemes that may be asked as things are now. */
export async function checkAddress<Known extends Scheme>(
  outbound: Outbound,
  field: string,
  text: string,
  known: readonly Known[],
): Promise<Address<Known>> {
  const address = readAddress(text, known)
  const blocked = (reason: string): Error => invalid({ [field]: [`is blocked: ${reason}`] })
  if ('fault' in address) throw blocked(address.fault)
  const reason = await (address.scheme === 'http' || address.scheme === 'https'
    ? outbound.refusal(webAddress(address))
    : outbound.refusalOfHost(address))
  if (reason !== undefined) throw blocked(reason)
  return address
}

export function checkMethod(method: string, { scheme }: Pick<Address, 'scheme'>): void {
  if (method === 'ssh_public_key' && scheme !== 'ssh') {
    throw invalid({ auth_method: ['can be ssh_public_key with an address of ssh:// only'] })
  }
}

/** Host keys in one line each, as they are kept. */
export function readHostKeys(given: readonly string[]): string[] {
  if (given.length > mostHostKeys) throw invalid({ host_keys: [`are too many (maximum is ${mostHostKeys})`] })
  const keys = given.map(readHostKey)
  const lines = keys.flatMap((key) => (key === undefined ? [] : [key.line]))
  if (lines.length < given.length) throw invalid({ host_keys: ['is invalid'] })
  return [...new Set(lines)]
}

/** Undefined: it is no regular expression. Linear in the text, whoever wrote it. */
export function compilePattern(text: string): RE2JS | undefined {
  try {
    return RE2JS.compile(text)
  } catch {
    return undefined
  }
}

/** Branches are chosen by protection or by name, not by both. Null and the empty text: by neither. */
export function checkPattern(
  field: string,
  text: string | null,
  { onlyProtected }: { readonly onlyProtected: boolean },
): string | null {
  if (text === null || text === '') return null
  if (onlyProtected) throw invalid({ [field]: ['cannot be used with protected branches only'] })
  if (compilePattern(text) === undefined) throw invalid({ [field]: ['not valid RE2 syntax'] })
  return text
}
