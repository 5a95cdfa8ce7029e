import type { IncomingMessage } from 'node:http'

/** Bytes of a form; a login is short. */
const largest = 16_384

/** The fields of a small form or JSON body: `user[login]` and `login` are one. Undefined for what is neither. */
export async function readForm(
  request: IncomingMessage,
): Promise<Readonly<Record<string, string>> | undefined> {
  const type = (request.headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase()
  const text = await readText(request)
  if (text === undefined) return undefined
  const fields =
    type === 'application/json'
      ? fromJson(text)
      : type === 'application/x-www-form-urlencoded'
        ? [...new URLSearchParams(text)]
        : undefined
  return fields && Object.fromEntries(fields.map(([name, value]) => [fieldName(name), clean(value)]))
}

function fieldName(name: string): string {
  return /^user\[(\w+)\]$/.exec(name)?.[1] ?? name
}

/** A database knows no NUL in a text. */
function clean(value: string): string {
  return value.replaceAll('\0', '')
}

async function readText(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length
    if (size > largest) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function fromJson(text: string): [string, string][] | undefined {
  try {
    const parsed = JSON.parse(text) as unknown
    if (typeof parsed !== 'object' || parsed === null) return undefined
    const all = { ...parsed, ...('user' in parsed && typeof parsed.user === 'object' ? parsed.user : {}) }
    return Object.entries(all).filter((field): field is [string, string] => typeof field[1] === 'string')
  } catch {
    return undefined
  }
}
