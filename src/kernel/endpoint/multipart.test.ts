import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ApiError } from '../errors/index.ts'
import { readMultipart, type MultipartOptions } from './multipart.ts'
import { UploadedFile } from './types.ts'

type Part = [name: string, content: string | Buffer, filename?: string | undefined, type?: string]

function body(parts: readonly Part[], end = '--b--\r\n'): Buffer {
  const pieces = parts.flatMap(([name, content, filename, type]) => [
    `--b\r\nContent-Disposition: form-data; name="${name}"`,
    filename === undefined ? '' : `; filename="${filename}"`,
    type === undefined ? '' : `\r\nContent-Type: ${type}`,
    '\r\n\r\n',
    content,
    '\r\n',
  ])
  return Buffer.concat(
    [...pieces, end].map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)),
  )
}

function request(bytes: Iterable<Buffer> | AsyncIterable<Buffer>, type = 'multipart/form-data; boundary=b') {
  return Object.assign(Readable.from(bytes, { objectMode: false }), {
    headers: { 'content-type': type },
  })
}

async function outcome(
  bytes: Buffer | (Readable & { headers: IncomingHttpHeaders }),
  options: MultipartOptions = {},
): Promise<unknown> {
  try {
    return await readMultipart(Buffer.isBuffer(bytes) ? request([bytes]) : bytes, options)
  } catch (error) {
    if (error instanceof ApiError) return [error.status, error.body]
    throw error
  }
}

const hold = async (_: string, content: Readable) => (await buffer(content)).toString()
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
const malformed = [400, { error: 'Invalid multipart body' }]
const tooLarge = [413, { message: '413 Request Entity Too Large' }]

describe('multipart forms', () => {
  test('texts and files become one bag', async () => {
    const parts: Part[] = [
      ['name', 'größe 🐳'],
      ['variables[][key]', 'A'],
      ['file', Buffer.from([0, 255, 13, 10]), '../a b.bin', 'image/png'],
      ['variables[][key]', 'B', undefined, 'text/plain; charset=utf-8'],
      ['empty', ''],
      ['none', '', ''],
    ]
    const bag = await readMultipart(request([body(parts)]), {
      takeFile: async (_, content) => buffer(content),
    })
    expect(bag['file']).toEqual(new UploadedFile('a b.bin', 'image/png', 4, Buffer.from([0, 255, 13, 10])))
    expect(plain({ ...bag, file: 0 })).toEqual({
      name: 'größe 🐳',
      variables: [{ key: 'A' }, { key: 'B' }],
      empty: '',
      file: 0,
    })
  })

  test('arrives the same in pieces of any size', async () => {
    const bytes = body([
      ['a', 'x'.repeat(300)],
      ['file', 'y'.repeat(100_000), 'f.txt'],
      ['b', '2'],
    ])
    for (const size of [1, 7, 1000]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      )
      const bag = await readMultipart(request(pieces), { takeFile: hold })
      expect(bag['file']).toMatchObject({ size: 100_000, stored: 'y'.repeat(100_000) })
      expect(bag).toMatchObject({ a: 'x'.repeat(300), b: '2' })
    }
  })

  test('files that nobody takes are passed over', async () => {
    const bytes = body([
      ['file', 'x'.repeat(200_000), 'f'],
      ['a', '1'],
    ])
    expect(await outcome(bytes)).toEqual({ a: '1' })
    expect(await outcome(bytes, { takeFile: () => undefined })).toEqual({ a: '1' })
  })

  test('a taker need not read its file to the end', async () => {
    const bytes = body([
      ['file', 'x'.repeat(1_000_000), 'f'],
      ['a', '1'],
    ])
    expect(await outcome(bytes, { takeFile: async () => 'enough' })).toMatchObject({
      a: '1',
      file: { stored: 'enough' },
    })
  })

  test.each<[string, Buffer, MultipartOptions, unknown]>([
    ['a text beyond the limit', body([['a', 'xxx']]), { fieldBytes: 2 }, tooLarge],
    [
      'texts beyond the limit',
      body([
        ['a', 'xx'],
        ['b', 'xx'],
      ]),
      { fieldBytes: 3 },
      tooLarge,
    ],
    [
      'a file beyond its limit',
      body([['a', 'xxx', 'f']]),
      { fileBytes: 2, fieldBytes: 2, takeFile: hold },
      tooLarge,
    ],
    [
      'a file beyond a limit below that of texts',
      body([['a', 'xxx', 'f']]),
      { fileBytes: 2, takeFile: hold },
      tooLarge,
    ],
    [
      'too many parts',
      body([
        ['a', '1'],
        ['b', '2'],
      ]),
      { parts: 1 },
      [400, { error: 'Too many total parameters' }],
    ],
    ['invalid UTF-8', body([['a', Buffer.from([0xc3, 0x28])]]), {}, [400, { error: 'a is invalid' }]],
    ['a NUL', body([['a', '\0']]), {}, [400, { error: 'a is invalid' }]],
    [
      'two shapes of one name',
      body([
        ['a', '1'],
        ['a[b]', '1'],
      ]),
      {},
      [400, { error: 'a is invalid' }],
    ],
    ['no end', body([['a', '1']], ''), {}, malformed],
    [
      'a file without an end',
      Buffer.from(
        body([['a', 'xxx', 'f']])
          .toString()
          .slice(0, -12),
      ),
      { takeFile: hold },
      malformed,
    ],
    ['nothing', Buffer.alloc(0), {}, malformed],
    ['no form at all', Buffer.from('{"a":1}'), {}, malformed],
  ])('%s', async (_, bytes, options, expected) => expect(await outcome(bytes, options)).toEqual(expected))

  test('a boundary is needed', async () =>
    expect(await outcome(request([body([])], 'multipart/form-data'))).toEqual(malformed))

  test('what a taker throws is thrown, after the other takers have ended', async () => {
    let ended = false
    const takeFile = async (name: string, content: Readable) => {
      if (name === 'bad') throw new Error('disk full')
      await buffer(content).finally(() => (ended = true))
    }
    const bytes = body([
      ['good', 'x', 'f'],
      ['bad', 'x', 'f'],
    ])
    await expect(readMultipart(request([bytes]), { takeFile })).rejects.toThrow('disk full')
    expect(ended).toBe(true)
  })

  test('a taker that throws at once does too', async () => {
    const takeFile = () => {
      throw new Error('no')
    }
    await expect(readMultipart(request([body([['a', 'x', 'f']])]), { takeFile })).rejects.toThrow('no')
  })

  test('an upload that breaks off destroys the file', async () => {
    const upload = Object.assign(new PassThrough(), {
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
    })
    upload.write(body([['a', 'x'.repeat(1000), 'f']], '').subarray(0, 500))
    let failure: unknown
    const takeFile = async (_: string, content: Readable) => {
      setImmediate(() => upload.destroy())
      content.resume()
      failure = (await once(content, 'error'))[0]
      throw failure as Error
    }
    expect(await outcome(upload, { takeFile })).toEqual(malformed)
    expect(failure).toBeInstanceOf(Error)
  })

  test('a request that is over already is malformed', async () => {
    const gone = request([body([['a', '1']])])
    gone.destroy()
    expect(await outcome(gone)).toEqual(malformed)
  })

  test('any bytes are a form or refused as the API refuses', async () => {
    const piece = fc.constantFrom(
      '--b',
      '--b--',
      '\r\n',
      '\n',
      'Content-Disposition: form-data; name="a"',
      '; filename="f"',
      'x',
      ':',
      ';',
      '\0',
    )
    const text = fc.array(piece, { maxLength: 20 }).map((parts) => `--b\r\n${parts.join('')}`)
    await fc.assert(
      fc.asyncProperty(fc.oneof(text, fc.string()), async (bytes) => {
        await outcome(Buffer.from(bytes), { takeFile: hold })
      }),
      { numRuns: 500 },
    )
  })
})
