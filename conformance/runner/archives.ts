import { text } from 'node:stream/consumers'
import { fromBufferPromise } from 'yauzl'
import type { Json, World } from '../../test/world/world.ts'

/** The files of a job's archive with their content, or undefined where it has none. */
export async function archiveOf(
  world: World,
  project: number,
  job: Json,
): Promise<Record<string, string> | undefined> {
  const answer = await fetch(
    `${world.url}/api/v4/projects/${project}/jobs/${job['id'] as number}/artifacts`,
    {
      headers: { 'private-token': world.root.token },
    },
  )
  if (answer.status === 404) {
    await answer.text()
    return undefined
  }
  const zip = await fromBufferPromise(Buffer.from(await answer.arrayBuffer()))
  const files: [string, string][] = []
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName.endsWith('/')) continue
    files.push([entry.fileName, await text(await zip.openReadStreamPromise(entry))])
  }
  return Object.fromEntries(files.sort(([one], [other]) => one.localeCompare(other)))
}
