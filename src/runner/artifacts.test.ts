// @module-tag long
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { fromBufferPromise } from 'yauzl'
import { ZipFile } from 'yazl'
import { startRunner } from './testing/runner.ts'
import type { ArtifactEntry } from './payload.ts'

const archive = (entry: ArtifactEntry): ArtifactEntry => ({
  artifact_type: 'archive',
  artifact_format: 'zip',
  ...entry,
})

async function entriesOf(content: Buffer) {
  const zip = await fromBufferPromise(content)
  const entries: Record<string, { mode: number; text: string }> = {}
  for await (const entry of zip.eachEntry()) {
    const mode = (entry.externalFileAttributes >>> 16) & 0o177777
    const data = entry.fileName.endsWith('/')
      ? Buffer.alloc(0)
      : await buffer(await zip.openReadStreamPromise(entry))
    entries[entry.fileName] = { mode, text: data.toString() }
  }
  return entries
}

async function zipOf(add: (zip: ZipFile) => void) {
  const zip = new ZipFile()
  add(zip)
  zip.end()
  return buffer(zip.outputStream)
}

test('artifacts are packed and uploaded as the job says', async () => {
  await using runner = await startRunner()
  const job = runner.server.offer({
    variables: [
      { key: 'GIT_STRATEGY', value: 'fetch' },
      { key: 'NAME', value: 'v 1/x' },
    ],
    script: [
      'mkdir -p out/deep "out/with space" other && echo a > out/a.txt && echo b > out/deep/.b && echo c > out/skip.tmp',
      'echo "#!/bin/sh" > out/run.sh && chmod 755 out/run.sh && ln -s a.txt out/link && ln -s /etc out/etc',
      'echo x > other/x.log && echo "<testsuite/>" > one.xml && echo two > two.xml && echo raw > gl.json',
      'mkfifo out/pipe; touch out/secret; chmod 000 out/secret',
    ],
    artifacts: [
      archive({
        name: '$NAME',
        paths: ['out/', '**/*.log', 'none/*', '../..', 'out/etc/passwd', '/etc/passwd'],
        exclude: ['**/*.tmp'],
        expire_in: '1 week',
      }),
      {
        name: 'junit.xml',
        paths: ['*.xml'],
        artifact_type: 'junit',
        artifact_format: 'gzip',
        when: 'always',
      },
      { paths: ['gl.json'], artifact_type: 'sast', artifact_format: 'raw' },
      archive({ paths: ['out/'], when: 'on_failure' }),
      archive({ untracked: true }),
    ],
  })

  const end = await job.ended

  expect(end, job.log).toMatchObject({ state: 'success' })
  const [zip, junit, sast, untracked] = job.uploads
  expect(job.uploads).toHaveLength(4)
  expect(zip).toMatchObject({ type: 'archive', format: 'zip', expireIn: '1 week', filename: 'v 1_x.zip' })
  const entries = await entriesOf(zip!.content)
  expect(Object.keys(entries).sort()).toEqual([
    'other/x.log',
    'out/',
    'out/a.txt',
    'out/deep/',
    'out/deep/.b',
    'out/etc',
    'out/link',
    'out/run.sh',
    'out/with space/',
  ])
  expect(entries['out/run.sh']!.mode & 0o777).toBe(0o755)
  expect(entries['out/link']).toEqual({ mode: 0o120777, text: 'a.txt' })
  expect(entries['out/etc']!.text).toBe('/etc')
  expect(job.log).toContain('WARNING: none/*: no matching files')
  expect(job.log).toContain('WARNING: ../..: not inside the project directory')
  expect(job.log).toContain('WARNING: out/etc/passwd: leads out of the project directory')
  expect(junit).toMatchObject({ type: 'junit', format: 'gzip', filename: 'junit.xml.gz' })
  expect(gunzipSync(junit!.content).toString()).toBe('<testsuite/>\ntwo\n')
  expect(sast).toMatchObject({ filename: 'gl.json', content: Buffer.from('raw\n') })
  expect(Object.keys(await entriesOf(untracked!.content))).toContain('one.xml')
})

test('reports of a failed job, and nothing where nothing is', async () => {
  await using runner = await startRunner()
  const job = runner.server.offer({
    script: ['echo data > report.xml', 'exit 1'],
    artifacts: [
      archive({ paths: ['report.xml'] }),
      { paths: ['report.xml'], artifact_type: 'junit', artifact_format: 'gzip', when: 'always' },
      { paths: ['missing.xml'], artifact_type: 'metrics', artifact_format: 'gzip', when: 'always' },
    ],
  })

  expect(await job.ended).toMatchObject({ state: 'failed', exit_code: 1 })
  expect(job.uploads.map(({ type }) => type)).toEqual(['junit'])
  expect(job.log).toMatch(/section_start:\d+:upload_artifacts_on_failure/)
  expect(job.log).toContain('ERROR: No files to upload')
})

test('an upload that is refused fails the job, one that fails for a moment does not', async () => {
  await using runner = await startRunner()
  let uploads = 0
  runner.server.interfere = ({ method, path: called }) => {
    if (method !== 'POST' || !called.endsWith('/artifacts')) return undefined
    uploads++
    if (uploads === 1) return { status: 503, headers: { 'retry-after': '0' } }
    return uploads > 2
      ? { status: 413, body: '{"message":"file size has reached maximum size limit"}' }
      : undefined
  }
  const one = { script: ['echo a > a'], artifacts: [archive({ paths: ['a'] })] }
  const first = runner.server.offer(one)
  expect(await first.ended).toMatchObject({ state: 'success' })
  expect(first.uploads).toHaveLength(1)

  const second = runner.server.offer(one)
  expect(await second.ended).toMatchObject({ state: 'failed', failure_reason: 'runner_system_failure' })
  expect(second.log).toContain('413 Payload Too Large: file size has reached maximum size limit')
})

test('artifacts of earlier jobs come into the project', async () => {
  await using runner = await startRunner()
  const content = await zipOf((zip) => {
    zip.addBuffer(Buffer.from('built\n'), 'out/result', { mode: 0o100755 })
    zip.addBuffer(Buffer.from('result'), 'out/link', { mode: 0o120777 })
  })
  const earlier = runner.server.offer({ script: ['true'] })
  await earlier.ended
  runner.server.artifacts.set(earlier.payload.id, content)
  const dependency = { id: earlier.payload.id, name: 'build', token: 'glcbt-x' }
  const job = runner.server.offer({
    script: ['test -x out/result', 'cat out/link', 'id -u; stat -c %u out/result'],
    dependencies: [
      { ...dependency, artifacts_file: { filename: 'artifacts.zip', size: content.length } },
      { id: 1, name: 'without', token: 'x' },
    ],
  })

  const end = await job.ended

  expect(end, job.log).toMatchObject({ state: 'success' })
  expect(job.log).toContain('\nbuilt\n')
  expect(job.log).toMatch(/\n(\d+)\n\1\n/)
})

test('artifacts that are no longer there fail the job', async () => {
  await using runner = await startRunner()
  const earlier = runner.server.offer({})
  await earlier.ended
  const dependency = {
    id: earlier.payload.id,
    name: 'build',
    token: 'x',
    artifacts_file: { filename: 'a.zip' },
  }
  const job = runner.server.offer({ dependencies: [dependency] })

  expect(await job.ended).toMatchObject({ state: 'failed', failure_reason: 'runner_system_failure' })
  expect(job.log).toContain('404 Not Found')
})

const link = { mode: 0o120777 }

test('links come back as they are, wherever they lead', async () => {
  await using runner = await startRunner()
  const earlier = runner.server.offer({})
  await earlier.ended
  const content = await zipOf((zip) => {
    zip.addEmptyDirectory('venv', { mode: 0o40500 })
    zip.addBuffer(Buffer.from('/usr/bin/env'), 'venv/bin/python3', link)
    zip.addBuffer(Buffer.from('../../../above'), 'venv/up', link)
    zip.addBuffer(Buffer.from('/none'), 'old', link)
    zip.addBuffer(Buffer.from('new'), 'file', { mode: 0o100644 })
  })
  runner.server.artifacts.set(earlier.payload.id, content)
  const target = await mkdtemp(path.join(os.tmpdir(), 'target-'))
  await writeFile(path.join(target, 'file'), 'kept')
  execFileSync('chmod', ['-R', '777', target])
  const job = runner.server.offer({
    hooks: [
      {
        name: 'pre_get_sources_script',
        script: [`mkdir -p team/app/old/x && ln -s ${target}/file team/app/file`],
      },
    ],
    script: ['readlink venv/bin/python3 venv/up old', 'test ! -L file && cat file && echo'],
    dependencies: [{ id: earlier.payload.id, name: 'b', token: 'x', artifacts_file: { filename: 'a.zip' } }],
  })

  expect(await job.ended, job.log).toMatchObject({ state: 'success' })
  expect(job.log).toContain('\n/usr/bin/env\n../../../above\n/none\n')
  expect(job.log).toContain('\nnew\n')
  expect(execFileSync('cat', [path.join(target, 'file')]).toString()).toBe('kept')
  await rm(target, { recursive: true })
})

type Archive = (zip: ZipFile, target: string) => void
const written: Archive = (zip) => zip.addBuffer(Buffer.from('x'), 'up/written')
const linked: Archive = (zip, target) => zip.addBuffer(Buffer.from(target), 'up', link)

test.each<[string, boolean, ...Archive[]]>([
  ['through a link of the repository', true, written],
  ['a folder in a link of the repository', true, (zip) => zip.addEmptyDirectory('up/written')],
  ['the rights of a link of the repository', true, (zip) => zip.addEmptyDirectory('up', { mode: 0o40700 })],
  ['through a link of the archive before', false, linked, written],
  [
    'a link through its own link',
    false,
    (zip, target) => {
      linked(zip, target)
      zip.addBuffer(Buffer.from('x'), 'up/written', link)
    },
  ],
])('an archive cannot write outside: %s', async (_, hasLink, ...archives) => {
  await using runner = await startRunner()
  const target = await mkdtemp(path.join(os.tmpdir(), 'target-'))
  execFileSync('chmod', ['777', target])
  const dependencies = []
  for (const add of archives) {
    const earlier = runner.server.offer({})
    await earlier.ended
    const { id } = earlier.payload
    runner.server.artifacts.set(id, await zipOf((zip) => add(zip, target)))
    dependencies.push({ id, name: 'b', token: 'x', artifacts_file: { filename: 'a.zip' } })
  }
  const job = runner.server.offer({
    hooks: [
      {
        name: 'pre_get_sources_script',
        script: [hasLink ? `ln -s ${target} team/app/up` : 'true'],
      },
    ],
    dependencies,
  })

  expect(await job.ended).toMatchObject({ state: 'failed', failure_reason: 'runner_system_failure' })
  expect(job.log).toContain('out of the project directory')
  expect(execFileSync('ls', [target]).toString()).toBe('')
  expect(execFileSync('stat', ['-c', '%a', target]).toString()).toBe('777\n')
  await rm(target, { recursive: true })
})

test('where an archive has a link and files in it, the files do not go where the link leads', async () => {
  await using runner = await startRunner()
  const earlier = runner.server.offer({})
  await earlier.ended
  const target = await mkdtemp(path.join(os.tmpdir(), 'target-'))
  execFileSync('chmod', ['777', target])
  const content = await zipOf((zip) => {
    linked(zip, target)
    zip.addEmptyDirectory('up', { mode: 0o40700 })
    written(zip, target)
  })
  runner.server.artifacts.set(earlier.payload.id, content)
  const job = runner.server.offer({
    dependencies: [{ id: earlier.payload.id, name: 'b', token: 'x', artifacts_file: { filename: 'a.zip' } }],
  })
  await job.ended

  expect(execFileSync('ls', [target]).toString()).toBe('')
  expect(execFileSync('stat', ['-c', '%a', target]).toString()).toBe('777\n')
  await rm(target, { recursive: true })
})

test('names that climb out are not taken', async () => {
  await using runner = await startRunner()
  const earlier = runner.server.offer({})
  await earlier.ended
  const honest = await zipOf((zip) => zip.addBuffer(Buffer.from('x'), 'aaaaaaa/written'))
  const content = Buffer.from(
    honest.toString('latin1').replaceAll('aaaaaaa/', '../../../'.slice(0, 8)),
    'latin1',
  )
  await writeFile(path.join(runner.server.folder, 'evil.zip'), content)
  runner.server.artifacts.set(earlier.payload.id, content)
  const job = runner.server.offer({
    dependencies: [{ id: earlier.payload.id, name: 'b', token: 'x', artifacts_file: { filename: 'a.zip' } }],
  })

  expect(await job.ended).toMatchObject({ state: 'failed', failure_reason: 'runner_system_failure' })
  expect(job.log).toMatch(/invalid relative path|out of the project/)
})
