import { Command } from 'commander'
import { ConfigError } from '../kernel/config/index.ts'
import { EmbeddedPostgresError } from '../kernel/db/embedded/index.ts'
import { commands } from './commands.ts'
import { Trouble } from './trouble.ts'

/** Runs one command. Trouble with the machine or the configuration is one line and exit code 1. */
export async function runCommandLine(argv: readonly string[]): Promise<void> {
  const program = new Command('guildhall')
    .description(
      'A self-hosted service for source code and the work on it. Configured by the environment: docs/configuration.md',
    )
    .version('0.1.0')
    .showHelpAfterError()
  for (const command of commands()) program.addCommand(command)
  try {
    await program.parseAsync([...argv])
  } catch (error) {
    const line = oneLine(error)
    if (line === undefined) throw error
    console.error(`guildhall: ${line}`)
    process.exitCode = 1
  }
}

function oneLine(error: unknown): string | undefined {
  if (error instanceof ConfigError || error instanceof EmbeddedPostgresError || error instanceof Trouble) {
    return error.message
  }
  return undefined
}
