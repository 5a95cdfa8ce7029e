import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { isIPv4 } from 'node:net'

/** A key with a certificate that it signs itself, both as PEM. */
export interface SelfSigned {
  readonly key: string
  readonly certificate: string
}

/**
 * A certificate as runners make it for their session server: for one name or IPv4 address, signed by itself, and without
 * the right to sign others. Good from yesterday until tomorrow.
 */
export function selfSigned(host: string): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = sequence(wrap(0x31, sequence(objectIds.commonName, wrap(0x0c, Buffer.from('session')))))
  const now = Date.now()
  const toBeSigned = sequence(
    wrap(0xa0, integer(Buffer.from([2]))),
    integer(serialNumber()),
    sequence(objectIds.ecdsaWithSha256),
    name,
    sequence(time(now - 86_400_000), time(now + 86_400_000)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    wrap(
      0xa3,
      sequence(
        sequence(objectIds.subjectAlternativeName, wrap(0x04, sequence(generalName(host)))),
        sequence(objectIds.extendedKeyUsage, wrap(0x04, sequence(objectIds.serverAuthentication))),
      ),
    ),
  )
  const signature = sign('sha256', toBeSigned, privateKey)
  const bits = wrap(0x03, Buffer.from([0]), signature)
  const der = sequence(toBeSigned, sequence(objectIds.ecdsaWithSha256), bits)
  const lines = der.toString('base64').replace(/.{64}(?=.)/g, '$&\n')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    certificate: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  }
}

/** As DER has them, with their tag and length. */
const objectIds = {
  commonName: Buffer.from('0603550403', 'hex'),
  subjectAlternativeName: Buffer.from('0603551d11', 'hex'),
  extendedKeyUsage: Buffer.from('0603551d25', 'hex'),
  serverAuthentication: Buffer.from('06082b06010505070301', 'hex'),
  ecdsaWithSha256: Buffer.from('06082a8648ce3d040302', 'hex'),
}

function wrap(tag: number, ...parts: readonly Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const header =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...header]), ...parts])
}

const sequence = (...parts: readonly Buffer[]): Buffer => wrap(0x30, ...parts)
const integer = (bytes: Buffer): Buffer => wrap(0x02, bytes)

/** Positive, and as short as it can be written. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16)
  bytes[0] = (bytes[0]! & 0x3f) | 0x40
  return bytes
}

/** Up to 2049, as the two digits of the year reach. */
function time(milliseconds: number): Buffer {
  const digits = new Date(milliseconds).toISOString().replaceAll(/[-:T]|\.\d+/g, '')
  return wrap(0x17, Buffer.from(digits.slice(2)))
}

function generalName(host: string): Buffer {
  return isIPv4(host) ? wrap(0x87, Buffer.from(host.split('.').map(Number))) : wrap(0x82, Buffer.from(host))
}
