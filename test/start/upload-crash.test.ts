// @module-tag long
import http from 'node:http'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { Client, Person } from '../world/client.ts'
import { expectStatus, type Json } from '../world/world.ts'
import { freePort, Program, temporaryFolder } from './process.ts'

const token = 'root-token-of-this-test'

test(
  'a service that is killed in the middle of an upload takes the whole of it afterwards',
  { timeout: 300_000 },
  async () => {
    await using folder = await temporaryFolder()
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const environment = {
      PORT: String(port),
      DATA_DIR: path.join(folder.path, 'data'),
      ROOT_TOKEN: token,
      ROLES: 'web,tasks',
    }
    const root = new Person(url, { id: 1, username: 'root', token })
    let job: Json
    {
      await using program = new Program(['serve'], environment)
      await program.ready(url)
      const config = 'test: { script: [x], artifacts: { paths: [out] } }\n'
      const project = expectStatus(await root.post('/projects', { name: 'app' }), 201)
      const file = { branch: 'main', commit_message: 'Add', content: config }
      const added = await root.post(`/projects/${project['id']}/repository/files/.gitlab-ci.yml`, file)
      expectStatus(added, 201)
      const runner = expectStatus(await root.post('/user/runners', { runner_type: 'instance_type' }), 201)
      const ask = () => new Client(url).post('/jobs/request', { token: runner['token'] as string })
      await expect
        .poll(
          async () => {
            const reply = await ask()
            if (reply.status === 201) job = reply.body as Json
            return reply.status
          },
          { timeout: 20_000 },
        )
        .toBe(201)

      // Most of a form, and then nothing more.
      const request = http.request(`${url}/api/v4/jobs/${job!['id']}/artifacts`, {
        method: 'POST',
        headers: {
          'job-token': job!['token'] as string,
          'content-type': 'multipart/form-data; boundary=b',
          'content-length': 20_000_000,
        },
      })
      request.on('error', () => undefined)
      request.write('--b\r\ncontent-disposition: form-data; name="file"; filename="artifacts.zip"\r\n\r\n')
      request.write(Buffer.alloc(5_000_000, 'x'))
      const incoming = path.join(folder.path, 'data', 'blobs', 'incoming')
      await expect.poll(() => readdir(incoming).catch(() => []), { timeout: 20_000 }).toHaveLength(1)
      program.kill('SIGKILL')
      await program.ended
      request.destroy()
    }

    await using again = new Program(['serve'], environment)
    await again.ready(url)
    const shown = async (): Promise<Json> => {
      const list = (await root.get('/projects/1/jobs')).body as Json[]
      return list[0]!
    }
    expect(await shown()).toMatchObject({ status: 'running', artifacts: [] })
    const form = new FormData()
    form.append('file', new Blob(['PK whole']), 'artifacts.zip')
    const headers = { 'job-token': job!['token'] as string }
    const upload = await new Client(url).post(`/jobs/${job!['id']}/artifacts`, form, headers)
    expect(upload.status, upload.text).toBe(201)
    const end = await new Client(url).put(`/jobs/${job!['id']}`, {
      token: job!['token'] as string,
      state: 'success',
    })
    expect(end.status).toBe(200)
    expect(await shown()).toMatchObject({ status: 'success', artifacts_file: { size: 8 } })
  },
)
