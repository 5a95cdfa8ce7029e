import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { JobFailure } from './failure.ts'
import type { JobFolder } from './job-folder.ts'
import type { Course } from './run-script.ts'
import { quote } from './script.ts'

const longest = 1024 * 1024

/** Right below the folder for temporary files, which the job cannot put a link in the place of. */
const noteIn = (folder: JobFolder): string => path.join(folder.temporary, 'release')

/** Notes its arguments, each ended by a zero; a description may be the name of a file that has it. */
const standIn = (note: string): string => String.raw`#!/bin/sh
while [ $# -gt 0 ]; do
  if [ "$1" = --description ] && [ -f "$2" ]; then
    printf '%s\0' "$1" "$(cat "$2")"
    shift 2
  else
    printf '%s\0' "$1"
    shift
  fi
done > ${quote(note)}
`

/**
 * What goes before the script of a release step: it calls a client, which images have and machines mostly have not. Where
 * there is none, a stand-in notes what is asked for.
 */
export function releaseSetup(folder: JobFolder): string {
  const tools = quote(path.join(folder.temporary, 'tools'))
  return [
    'if ! command -v glab >/dev/null 2>&1 && ! command -v release-cli >/dev/null 2>&1; then',
    `  mkdir -p ${tools}`,
    `  printf '%s' ${quote(standIn(noteIn(folder)))} > ${tools}/release-cli`,
    `  chmod 700 ${tools}/release-cli`,
    `  PATH="$PATH:"${tools}`,
    'fi',
  ].join('\n')
}

/** Makes, as the job, the release that its stand-in has noted; throws the failure of the job if it is refused. */
export async function makeRelease({ api, job, folder, variables, trace, control }: Course): Promise<void> {
  const noted = await readNote(noteIn(folder))
  if (noted === undefined) return
  const body = releaseOf(noted.split('\0').slice(1, -1), variables.environment.CI_COMMIT_SHA)
  const answer = await api.json('POST', `/projects/${job.job_info.project_id}/releases`, body, {
    headers: { 'job-token': job.token },
    signal: control.soft,
  })
  if (answer.status !== 201) throw refused(`${answer.status} ${answer.text}`)
  trace.line(`Release ${body.tag_name ?? ''} is made.`)
}

function releaseOf(args: string[], sha: string | undefined) {
  const one = { type: 'string' } as const
  const many = { type: 'string', multiple: true } as const
  try {
    const { values } = parseArgs({
      args,
      options: {
        ...{ name: one, description: one, ref: one, milestone: many },
        ...{ 'tag-name': one, 'tag-message': one, 'released-at': one, 'assets-link': many },
      },
    })
    const { name, description, ref = sha, milestone: milestones } = values
    return {
      ...{ name, description, ref, milestones },
      tag_name: values['tag-name'],
      tag_message: values['tag-message'],
      released_at: values['released-at'],
      assets: { links: values['assets-link']?.map((link) => JSON.parse(link) as unknown) },
    }
  } catch (error) {
    throw refused((error as Error).message)
  }
}

const refused = (why: string) => new JobFailure('script_failure', `the release could not be made: ${why}`, 1)

/** The job may have put anything in its place. */
async function readNote(file: string): Promise<string | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  try {
    await using handle = await open(file, flags)
    const found = await handle.stat()
    return found.isFile() && found.size <= longest ? await handle.readFile('utf8') : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
