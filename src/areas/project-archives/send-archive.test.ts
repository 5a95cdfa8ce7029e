import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { Blobs } from '../../blobs/index.ts'
import { Cipher } from '../../kernel/lib/secrets.ts'
import { Outbound } from '../../kernel/outbound/index.ts'
import { sealUpload, sendArchive } from './send-archive.ts'

test('where the address may no longer be sent to, the archive is not left open', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'archives-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const blobs = new Blobs(folder)
  const stored = await blobs.put(Readable.from(['content']), undefined, () => new Error('too large'))
  const body = blobs.read(stored.digest)
  const room = {
    cipher: new Cipher('key'),
    outbound: new Outbound(() => ({ allowLocal: false, onlyAllowed: false, allowed: [], pinned: true })),
    blobs: Object.assign(blobs, { read: () => body }),
  }
  const sealed = sealUpload(room, { url: 'http://127.0.0.1:1/put?signed=by-somebody', http_method: 'PUT' })
  expect(Buffer.from(sealed, 'base64').toString('latin1')).not.toContain('signed')
  await expect(sendArchive(room, sealed, stored)).rejects.toThrow(
    'The archive could not be sent: Requests to',
  )
  expect(body.destroyed).toBe(true)
})
