import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { ApiError, badRequest } from '../../kernel/errors/index.ts'

/** What Terraform says of a lock, in its own spelling. */
export interface LockInfo {
  readonly ID: string
  readonly Operation: string
  readonly Info: string
  readonly Who: string
  readonly Version: string
  readonly Created: string
  readonly Path: string
}

const longestName = 255

export function checkName(name: string): void {
  if (name.trim() === '' || name.length > longestName || name.includes('/'))
    throw badRequest('name is invalid')
}

/** A state as it was sent: its text, and the number of its version. */
export interface SentState {
  readonly text: string
  readonly serial: number
}

/** Refuses what is no state, or not what the caller meant to send. */
export function readState(body: Buffer, md5: string | undefined): SentState {
  if (md5 !== undefined && createHash('md5').update(body).digest('base64') !== md5) {
    throw badRequest('Content-MD5 is not that of the body')
  }
  if (!isUtf8(body)) throw badRequest('the state is no JSON')
  const text = body.toString()
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw badRequest('the state is no JSON')
  }
  const serial = (parsed as { serial?: unknown } | null)?.serial
  if (!Number.isSafeInteger(serial) || (serial as number) < 0) throw badRequest('serial is invalid')
  return { text, serial: serial as number }
}

/** The state is held by somebody else; clients show who it is. */
export const locked = (info: LockInfo | null): ApiError =>
  new ApiError(409, { message: 'The state is locked', ...info })

export const serialTaken = (): ApiError =>
  new ApiError(422, { message: 'There is a version of this serial already' })
