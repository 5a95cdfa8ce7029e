import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'
import type { SettingValues } from '../../settings/index.ts'

interface Unsigned {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

type Source = string | ArrayBuffer | ArrayBufferView

/** SHA-256, and with a secret its HMAC, as the signer wants them. */
class Sha256 {
  readonly #hash: Hash | Hmac

  constructor(secret?: Source) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret))
  }

  update(data: Source): void {
    this.#hash.update(bytesOf(data))
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }

  /** The signer makes a new one for each text. */
  reset(): void {}
}

function bytesOf(data: Source): Buffer {
  if (typeof data === 'string') return Buffer.from(data)
  return ArrayBuffer.isView(data)
    ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    : Buffer.from(data)
}

let surroundings: ReturnType<typeof import('@aws-sdk/credential-provider-node').defaultProvider> | undefined

/**
 * The headers of a request to the hosted cluster, with its signature (version 4). Without keys of its own it is signed
 * with those of the machine; undefined: that has none either.
 */
export async function signed(
  values: SettingValues,
  { method, url, headers, body }: Unsigned,
): Promise<Record<string, string> | undefined> {
  // The libraries are large: they are loaded only where they are used.
  const { SignatureV4 } = await import('@smithy/signature-v4')
  const { elasticsearch_aws_access_key: accessKeyId, elasticsearch_aws_secret_access_key: secretAccessKey } =
    values
  let credentials: ConstructorParameters<typeof SignatureV4>[0]['credentials']
  if (accessKeyId && secretAccessKey) credentials = { accessKeyId, secretAccessKey }
  else {
    const { defaultProvider } = await import('@aws-sdk/credential-provider-node')
    credentials = surroundings ??= defaultProvider()
  }
  const target = new URL(url)
  const signer = new SignatureV4({
    service: target.hostname.endsWith('.aoss.amazonaws.com') ? 'aoss' : 'es',
    region: values.elasticsearch_aws_region,
    credentials,
    sha256: Sha256,
  })
  const { protocol, hostname, port, host, pathname, searchParams } = target
  try {
    const request = await signer.sign({
      method,
      protocol,
      hostname,
      ...(port !== '' && { port: Number(port) }),
      path: pathname,
      query: Object.fromEntries(searchParams),
      headers: { ...headers, host },
      ...(body !== undefined && { body }),
    })
    return request.headers
  } catch {
    return undefined
  }
}
