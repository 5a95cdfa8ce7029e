import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'
import type { SettingValues } from './catalogue/index.ts'

/** What is wrong with the certificate that is shown to the policy server, and with its key. */
export function certificateFault({
  external_auth_client_cert: text,
  external_auth_client_key: key,
  external_auth_client_key_pass: passphrase,
}: SettingValues): readonly [name: string, fault: string] | undefined {
  if (text === null) return undefined
  if (key === null) return ['external_auth_client_key', "can't be blank"]
  const certificate = tried(() => new X509Certificate(text))
  if (certificate === undefined) return ['external_auth_client_cert', 'is not a valid X509 certificate.']
  const opened = tried(() => opensWith(key, passphrase))
  if (opened === undefined) {
    return ['external_auth_client_key', 'could not read private key, is the passphrase correct?']
  }
  return certificate.checkPrivateKey(opened)
    ? undefined
    : ['external_auth_client_key', 'private key does not match certificate.']
}

function opensWith(key: string, passphrase: string | null): KeyObject {
  return createPrivateKey({ key, ...(passphrase !== null && { passphrase }) })
}

function tried<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
