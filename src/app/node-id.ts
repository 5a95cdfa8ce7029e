import { randomUUID } from 'node:crypto'
import { open, readFile } from 'node:fs/promises'
import path from 'node:path'

/** The header in which a service says whose data it serves, to who knows the name. */
export const nodeHeader = 'x-guildhall-node'

const fileIn = (dataDirectory: string): string => path.join(dataDirectory, 'node-id')

/** The name of this node, the same for as long as its data is. */
export async function readNodeId(dataDirectory: string): Promise<string> {
  const file = fileIn(dataDirectory)
  try {
    const handle = await open(file, 'wx', 0o600)
    try {
      const id = randomUUID().slice(0, 13)
      await handle.writeFile(`${id}\n`)
      return id
    } finally {
      await handle.close()
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return (await readFile(file, 'utf8')).trim()
  }
}

/** The name where there is one. */
export async function findNodeId(dataDirectory: string): Promise<string | undefined> {
  return readFile(fileIn(dataDirectory), 'utf8').then(
    (text) => text.trim(),
    () => undefined,
  )
}
