import { randomBytes } from 'node:crypto'
import { open, readFile } from 'node:fs/promises'
import path from 'node:path'

/** The key from the configuration, or the one kept in the data folder; made there the first time. */
export async function secretKey(configured: string | undefined, dataDirectory: string): Promise<string> {
  if (configured !== undefined) return configured
  const file = path.join(dataDirectory, 'secret-key')
  const existing = await readKey(file)
  if (existing !== undefined) return existing
  try {
    // On disk before the first value is encrypted with it.
    const handle = await open(file, 'wx', 0o600)
    try {
      const key = randomBytes(32).toString('base64url')
      await handle.writeFile(`${key}\n`)
      await handle.sync()
      return key
    } finally {
      await handle.close()
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return (await readKey(file)) ?? Promise.reject(new Error(`${file} is empty`))
  }
}

async function readKey(file: string): Promise<string | undefined> {
  try {
    const key = (await readFile(file, 'utf8')).trim()
    return key === '' ? undefined : key
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
