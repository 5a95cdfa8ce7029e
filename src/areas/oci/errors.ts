/** The codes of the distribution specification, and those of the token service. */
export type ErrorCode =
  | 'BLOB_UNKNOWN'
  | 'BLOB_UPLOAD_INVALID'
  | 'BLOB_UPLOAD_UNKNOWN'
  | 'DIGEST_INVALID'
  | 'MANIFEST_BLOB_UNKNOWN'
  | 'MANIFEST_INVALID'
  | 'MANIFEST_UNKNOWN'
  | 'NAME_INVALID'
  | 'NAME_UNKNOWN'
  | 'SIZE_INVALID'
  | 'UNAUTHORIZED'
  | 'DENIED'
  | 'UNSUPPORTED'
  | 'TOOMANYREQUESTS'
  | 'UNAVAILABLE'
  | 'PAGINATION_NUMBER_INVALID'

/** A refusal in the form of the distribution specification. */
export class RegistryError extends Error {
  readonly status: number
  readonly code: ErrorCode
  readonly detail: unknown
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: ErrorCode,
    message: string,
    { detail, headers = {} }: { detail?: unknown; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message)
    this.name = 'RegistryError'
    this.status = status
    this.code = code
    this.detail = detail
    this.headers = headers
  }

  get body(): string {
    const { code, message, detail } = this
    return JSON.stringify({ errors: [{ code, message, ...(detail !== undefined && { detail }) }] })
  }
}

export function blobUnknown(digest: string): RegistryError {
  return new RegistryError(404, 'BLOB_UNKNOWN', 'blob unknown to registry', { detail: { digest } })
}

export function manifestUnknown(reference: string): RegistryError {
  return new RegistryError(404, 'MANIFEST_UNKNOWN', 'manifest unknown to registry', { detail: { reference } })
}

export function nameUnknown(name: string): RegistryError {
  return new RegistryError(404, 'NAME_UNKNOWN', 'repository name not known to registry', { detail: { name } })
}

export function uploadUnknown(): RegistryError {
  return new RegistryError(404, 'BLOB_UPLOAD_UNKNOWN', 'blob upload unknown to registry')
}

export function digestInvalid(message = 'provided digest did not match uploaded content'): RegistryError {
  return new RegistryError(400, 'DIGEST_INVALID', message)
}

export function sizeInvalid(): RegistryError {
  return new RegistryError(400, 'SIZE_INVALID', 'provided length did not match content length')
}

export function manifestInvalid(message: string): RegistryError {
  return new RegistryError(400, 'MANIFEST_INVALID', message)
}

export function denied(message: string): RegistryError {
  return new RegistryError(403, 'DENIED', message)
}
