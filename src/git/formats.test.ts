import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { formatCommit, formatTag, parseCommit, parseTag, type Signature } from './commit-format.ts'
import { newObject } from './pack-writer.ts'
import type { Oid } from './parse.ts'
import { clientEnvironment, openWorld, type World } from './testing.ts'
import { parseTrailers } from './trailers.ts'
import { formatTree, parseTree, type FileMode } from './tree-format.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
})

const byGit = (args: string[], input: string | Buffer) =>
  execFileSync('git', args, { cwd: world.repository.path, env: clientEnvironment, input })

const oid = fc.stringMatching(/^[0-9a-f]{40}$/).map((text) => text as Oid)
const word = fc.stringMatching(/^[A-Za-zäöü][A-Za-zäöü 0-9()-]{0,20}[a-z]$/)
const signature: fc.Arbitrary<Signature> = fc.record({
  name: word,
  email: fc.stringMatching(/^[a-z]{1,8}@[a-z]{1,8}$/),
  date: fc.integer({ min: 0, max: 4_000_000_000 }).map((seconds) => new Date(seconds * 1000)),
  offset: fc.integer({ min: -720, max: 840 }),
})
const message = fc
  .string({ unit: 'grapheme', minLength: 1 })
  .map((text) => `${text.replaceAll('\0', '').trim()}x\n`)

test('commits are read as they were written', () => {
  const commit = fc.record({
    tree: oid,
    parents: fc.array(oid, { maxLength: 4 }),
    author: signature,
    committer: signature,
    message,
  })
  fc.assert(
    fc.property(commit, (written) => {
      const content = formatCommit(written)
      expect(parseCommit('0'.repeat(40) as Oid, content)).toMatchObject(written)
    }),
  )
})

test('tags are read as they were written', () => {
  const tag = fc.record({
    target: oid,
    targetType: fc.constantFrom('commit' as const, 'tree' as const),
    name: word,
    tagger: signature,
    message,
  })
  fc.assert(
    fc.property(tag, (written) => {
      expect(parseTag('0'.repeat(40) as Oid, formatTag(written))).toMatchObject(written)
    }),
  )
})

test('trees are read as they were written, in the order of git, and their id is the one of git', () => {
  const mode = fc.constantFrom<FileMode>('040000', '100644', '100755', '120000', '160000')
  const name = fc.stringMatching(/^[a-c.\-0ä]{1,4}$/).filter((text) => !/^\.+$/.test(text))
  const entries = fc.uniqueArray(fc.record({ mode, name, oid }), {
    selector: (entry) => entry.name,
    maxLength: 20,
  })
  fc.assert(
    fc.property(entries, (written) => {
      const bytes = written.map((entry) => ({ ...entry, name: Buffer.from(entry.name).toString('latin1') }))
      const content = formatTree(bytes)
      expect(new Set(parseTree(content))).toEqual(new Set(bytes))
      const lines = written.map(
        (e) =>
          `${e.mode} ${e.mode === '040000' ? 'tree' : e.mode === '160000' ? 'commit' : 'blob'} ${e.oid}\t${e.name}\0`,
      )
      const id = byGit(['mktree', '-z', '--missing'], lines.join('')).toString().trim()
      expect(newObject('tree', content).oid).toBe(id)
    }),
    { numRuns: 40 },
  )
})

test('the parsers never throw anything but their own error', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      for (const parse of [
        parseTree,
        (data: Buffer) => parseCommit('' as Oid, data),
        (data: Buffer) => parseTag('' as Oid, data),
      ]) {
        try {
          parse(Buffer.from(bytes))
        } catch (error) {
          expect(error).toMatchObject({ name: 'GitError' })
        }
      }
    }),
  )
})

test('an old commit: encoding, signature over lines, odd author', () => {
  const content = Buffer.concat([
    Buffer.from(
      `tree ${'1'.repeat(40)}\nauthor J\xf6rg <j@x> 1000000000 -0330\ncommitter <> 5 +0000\nencoding ISO-8859-1\n` +
        'gpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----\n\nGr\xfc\xdfe\n\nmehr',
      'latin1',
    ),
  ])
  expect(parseCommit('0'.repeat(40) as Oid, content)).toMatchObject({
    author: { name: 'Jörg', email: 'j@x', date: new Date('2001-09-09T01:46:40Z'), offset: -210 },
    committer: { name: '', email: '', offset: 0 },
    title: 'Grüße',
    message: 'Grüße\n\nmehr',
    signature: '-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----',
  })
})

test('names that would break the header are cleaned', () => {
  const who = { name: ' "A\n<b>, ', email: 'a>b\nx', date: new Date(1000), offset: 60 }
  const content = formatCommit({
    tree: '1'.repeat(40) as Oid,
    parents: [],
    author: who,
    committer: who,
    message: 'm',
  })
  expect(content.toString()).toContain('\nauthor Ab <abx> 1 +0100\n')
})

test.each([
  'title\n\nbody\n\nSigned-off-by: A <a@b>\nReviewed-by: B\n',
  'title\n\nKey: value\n  continued\nOther-key:no space\n',
  'Key: only a title\n',
  'title\n\nbody with Key: value in it\nand more\n',
  'title\n\nSigned-off-by: A\nsome other line\nanother one\n',
  'title\n\nSigned-off-by: A\na\nb\nc\nd\n',
  'title\n\nFixed: a\nnot one\n',
  'title\n\nbody\n\n(cherry picked from commit abc)\nSigned-off-by: A\n',
  'title\n\n\nKey : spaced\n\n\n',
  'title\nsecond line\n\nKey: v',
  'title\n\nKey:\n',
  'title\n\nhttps://example.com\n',
  'title\n\nBREAKING CHANGE: x\nRefs: 1\n',
])('trailers of %j', (text) => {
  const lines = byGit(['interpret-trailers', '--parse'], text).toString().split('\n').filter(Boolean)
  expect(parseTrailers(text).map(({ key, value }) => `${key}: ${value}`.trimEnd())).toEqual(
    lines.map((l) => l.trimEnd()),
  )
})
