import { promisify } from 'node:util'
import ssh2 from 'ssh2'
import { parsePublicKey, type PublicKey } from '../ssh-keys/index.ts'

const makePair = promisify(
  (done: (error: Error | null, pair?: { readonly public: string; readonly private: string }) => void) =>
    ssh2.utils.generateKeyPair('rsa', { bits: 3072, comment: 'mirror' }, done),
)

/** A key of a mirror's own: of the one kind that every server takes. */
export async function newKey(): Promise<{ readonly publicKey: string; readonly privateKey: string }> {
  const pair = (await makePair())!
  return { publicKey: pair.public, privateKey: pair.private }
}

/** A host key as it comes over the wire, in one line. */
export function lineOfKey(blob: Buffer): string {
  const length = blob.length < 4 ? 0 : blob.readUInt32BE(0)
  return `${blob.toString('latin1', 4, 4 + length)} ${blob.toString('base64')}`
}

/** A key as somebody gives it, perhaps with the hosts before it as `known_hosts` has them; undefined: it is none. */
export function readHostKey(text: string): (PublicKey & { readonly line: string }) | undefined {
  const words = text.trim().split(/[ \t]+/)
  for (const given of [words, words.slice(1)]) {
    const key = parsePublicKey(given.slice(0, 2).join(' '))
    if (key !== undefined) return { ...key, line: key.text }
  }
  return undefined
}

const signatures: Readonly<Record<string, readonly ssh2.ServerHostKeyAlgorithm[]>> = {
  'ssh-rsa': ['rsa-sha2-512', 'rsa-sha2-256', 'ssh-rsa'],
}

/** Asks for keys of the kinds that are known: of others nobody could tell whose they are. */
export function algorithmsOf(hostKeys: readonly string[]): Pick<ssh2.ConnectConfig, 'algorithms'> {
  if (hostKeys.length === 0) return {}
  const kinds = [...new Set(hostKeys.map((line) => line.split(' ')[0]!))]
  const serverHostKey = kinds.flatMap((kind) => signatures[kind] ?? [kind as ssh2.ServerHostKeyAlgorithm])
  return { algorithms: { serverHostKey } }
}
