import { createReadStream, createWriteStream } from 'node:fs'
import { readlink } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { ZipFile } from 'yazl'
import type { FoundFile } from './archive-files.ts'
import type { PackRequest, PackResult } from './archive-protocol.ts'

/** Writes the files in the form asked for. */
export async function pack(project: string, request: PackRequest, files: FoundFile[]): Promise<PackResult> {
  if (request.format === 'zip') return packZip(project, request, files)
  const plain = files.filter(({ kind }) => kind === 'file')
  if (plain.length === 0) return { entries: 0, name: undefined }
  if (request.format === 'raw') {
    if (plain.length > 1) throw new Error('only one file can be sent as raw')
    await pipeline(createReadStream(path.join(project, plain[0]!.name)), output(request.descriptor))
  } else {
    await pipeline(Readable.from(gzipMembers(project, plain, request.level)), output(request.descriptor))
  }
  return { entries: plain.length, name: plain[0]!.name }
}

/** One member per file: readers see them one after the other. */
async function* gzipMembers(project: string, files: FoundFile[], level: number): AsyncGenerator<Buffer> {
  for (const { name } of files) {
    const member = createReadStream(path.join(project, name)).pipe(createGzip({ level }))
    for await (const part of member) yield part as Buffer
  }
}

async function packZip(project: string, request: PackRequest, files: FoundFile[]): Promise<PackResult> {
  if (files.length === 0) return { entries: 0, name: undefined }
  const zip = new ZipFile()
  for (const { name, kind, mode, modified } of files) {
    const options = { mode, mtime: modified }
    if (kind === 'folder') zip.addEmptyDirectory(name, options)
    else if (kind === 'link') zip.addBuffer(await readlink(path.join(project, name), 'buffer'), name, options)
    else zip.addFile(path.join(project, name), name, { ...options, compressionLevel: request.level })
  }
  zip.end()
  const failed = new Promise<never>((_, reject) => zip.on('error', reject))
  await Promise.race([pipeline(zip.outputStream, output(request.descriptor)), failed])
  return { entries: files.length, name: undefined }
}

function output(descriptor: number) {
  return createWriteStream('', { fd: descriptor })
}
