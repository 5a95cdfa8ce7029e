import { run, type Workplace } from './run.ts'

/** What the objects of a repository take on disk, in bytes; 0 where there is none. */
export async function repositorySize(repository: Workplace): Promise<number> {
  const { stdout } = await run(repository, 'count-objects', { flags: ['-v'] })
  const kibibytes = (name: string): number =>
    Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(stdout.toString())?.[1] ?? 0)
  return (kibibytes('size') + kibibytes('size-pack')) * 1024
}
