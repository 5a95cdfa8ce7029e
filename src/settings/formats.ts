import { isIP } from 'node:net'
import { RE2JS } from 're2js'
import type { Format } from './kinds.ts'
import { entriesOf } from './kinds.ts'
import { parseDuration } from '../kernel/lib/duration.ts'

/* What texts of settings must look like, each with the words of its refusal. */

function withSchemes(...schemes: readonly string[]): Format {
  return (text) => {
    const url = URL.parse(text)
    if (url === null) return 'is blocked: URI is invalid'
    if (!schemes.includes(url.protocol.slice(0, -1)))
      return `is blocked: Only allowed schemes are ${schemes.join(', ')}`
    return url.hostname === '' ? 'is blocked: URI is invalid' : undefined
  }
}

export const httpUrl = withSchemes('http', 'https')
export const grpcUrl = withSchemes('tls', 'grpc')

export const plainUrl: Format = (text) => (URL.canParse(text) ? undefined : 'is not a valid URL')

export const rendererUrl: Format = (text) => {
  const fault = httpUrl(text)
  return fault === undefined ? undefined : `is not valid. ${fault.replace(/^is blocked: /, '')}`
}

export const urlWithoutMarkup: Format = (text) =>
  /[<>]/.test(text) ? 'is blocked: HTML/CSS/JS tags are not allowed' : httpUrl(text)

export const emailAddress: Format = (text) => (/^[^@\s]+@[^@\s]+$/.test(text) ? undefined : 'is invalid')

export const hostOfAddresses: Format = (text) =>
  /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i.test(text) ? undefined : 'is invalid'

export const domainName: Format = (text) =>
  /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/i.test(text)
    ? undefined
    : 'is not a fully qualified domain name'

export const re2: Format = (text) => {
  try {
    RE2JS.compile(text)
    return undefined
  } catch (error) {
    return `not valid RE2 syntax: ${error instanceof Error ? error.message : String(error)}`
  }
}

export const javascriptPattern: Format = (text) => {
  const fault = re2(text)
  if (fault !== undefined) return fault
  try {
    new RegExp(text, 'u')
    return undefined
  } catch {
    return `Regex Pattern ${text} can not be expressed in Javascript`
  }
}

export const tokenPrefix: Format = (text) =>
  /^[a-zA-Z0-9_+=/@:.-]+$/.test(text)
    ? undefined
    : "can contain only letters of the Base64 alphabet (RFC4648) with the addition of '@', ':' and '.'"

export const pathWithin: Format = (text) =>
  text.startsWith('/') || text.split('/').includes('..')
    ? 'cannot include leading slash or directory traversal.'
    : undefined

export const duration: Format = (text) =>
  parseDuration(text) === null ? 'is not a correct duration' : undefined

export const addresses: Format = (text) => {
  const wrong = entriesOf(text).find((entry) => !isRange(entry))
  return wrong === undefined ? undefined : `invalid address: ${wrong}`
}

function isRange(entry: string): boolean {
  const [address = '', bits, ...more] = entry.split('/')
  const version = isIP(address)
  if (version === 0 || more.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 6 ? 128 : 32))
}

/** Of the list of what outgoing requests may reach. */
export const reachable: Format = (entry) => {
  if (/[<>]/.test(entry)) return 'entries cannot contain HTML tags'
  return /\P{ASCII}/u.test(entry) ? 'unicode domains should use IDNA encoding' : undefined
}

const locales =
  'en bg cs_CZ da_DK de eo es fil_PH fr gl_ES id_ID it ja ko nb_NO nl_NL pl_PL pt_BR ro_RO ru si_LK tr_TR uk zh_CN zh_HK zh_TW'.split(
    ' ',
  )

export const locale: Format = (text) => (locales.includes(text) ? undefined : 'is not included in the list')

/** At most so many entries in a text that separates them. */
export function entriesUpTo(most: number): Format {
  return (text) => (entriesOf(text).length > most ? `is too long (maximum is ${most} entries)` : undefined)
}
