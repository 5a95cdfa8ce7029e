import { isIP } from 'node:net'
import path from 'node:path'
import { checkServerIdentity, createSecureContext } from 'node:tls'
import {
  Client,
  credentials,
  Metadata,
  type ChannelCredentials,
  type ServiceDefinition,
  type ServiceError,
} from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'

/** Where a server of this protocol is. */
export interface Place {
  /** As its certificate names it, an IPv6 address between brackets. */
  readonly host: string
  readonly port: number
  /** To connect to; undefined: whatever the host's name means. */
  readonly addresses: readonly string[] | undefined
  readonly encrypted: boolean
  readonly key: string | null
}

export interface Question {
  readonly method: 'CheckForSpamIssue' | 'CheckForSpamSnippet' | 'CheckForSpamGeneric'
  readonly message: object
}

export interface Answer {
  readonly verdict: string
  readonly error: string
  readonly reason: string
  readonly extraAttributes: Readonly<Record<string, string>>
}

/** Milliseconds that a writer waits for the verdict at most. */
const timeout = 2000
const mostBytes = 100_000
/** The library asks for a name when it connects, which an address is not. */
const noName = 'address.invalid'

export const protocol = path.join(import.meta.dirname, 'spamcheck.proto')
export const service = loadSync(protocol, { enums: String, defaults: true })[
  'spamcheck.SpamcheckService'
] as ServiceDefinition

/** Never rejects: what goes wrong is the other side's, and part of the answer. */
export async function ask(
  place: Place,
  { method, message }: Question,
): Promise<Answer | { readonly failed: string }> {
  let client: Client | undefined
  try {
    client = clientOf(place)
    return await call(client, service[method]!, message, metadataOf(place))
  } catch (error) {
    // Nothing else of it is told: it may hold the key.
    const { code, details } = error as Partial<ServiceError>
    return { failed: code === undefined ? 'it could not be asked' : `${code} ${details ?? ''}` }
  } finally {
    client?.close()
  }
}

/** A client of one call. */
function clientOf({ host, port, addresses, encrypted }: Place): Client {
  const name = host.replace(/^\[(.*)\]$/, '$1')
  return new Client(
    targetOf(host, port, addresses),
    encrypted ? encryptedFor(name) : credentials.createInsecure(),
    {
      'grpc.default_authority': `${host}:${port}`,
      'grpc.ssl_target_name_override': isIP(name) === 0 ? name : noName,
      // Nobody but the server itself says where and how it is asked.
      'grpc.enable_http_proxy': 0,
      'grpc.service_config_disable_resolution': 1,
      'grpc.use_local_subchannel_pool': 1,
      'grpc.max_receive_message_length': mostBytes,
    },
  )
}

/** Trusts whom the rest of the service trusts, which the library would not by itself. */
function encryptedFor(name: string): ChannelCredentials {
  return credentials.createFromSecureContext(createSecureContext(), {
    checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate),
  })
}

/** The library takes addresses of one family at a time. */
function targetOf(host: string, port: number, addresses: readonly string[] | undefined): string {
  if (addresses === undefined) return `dns:${host}:${port}`
  const old = addresses.filter((address) => isIP(address) === 4)
  return old.length > 0
    ? `ipv4:${old.map((address) => `${address}:${port}`).join(',')}`
    : `ipv6:${addresses.map((address) => `[${address}]:${port}`).join(',')}`
}

function metadataOf({ key }: Place): Metadata {
  const metadata = new Metadata()
  if (key) metadata.set('authorization', key)
  return metadata
}

function call(
  client: Client,
  { path, requestSerialize, responseDeserialize }: ServiceDefinition[string],
  message: object,
  metadata: Metadata,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      message,
      metadata,
      { deadline: Date.now() + timeout },
      (error, answer) => (error === null ? resolve(answer as Answer) : reject(error)),
    )
  })
}
