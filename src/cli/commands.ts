import { Command } from 'commander'
import type { CollectOptions } from './registry.ts'
import type { RunnerFlags } from './runner.ts'
import type { NewTokenOptions } from './token.ts'
import type { NewUserOptions } from './user.ts'

/*
 * The manual of the program. What a command does is loaded when it is asked for: help is there at once, and no command
 * waits for the others.
 */

export function commands(): Command[] {
  return [serve(), migrate(), runner(), user(), token(), registry(), doctor()]
}

function serve(): Command {
  return new Command('serve')
    .description('run the service')
    .option('--roles <list>', 'what this program does: web, tasks, runner (default: all; as ROLES)')
    .action(async (options: { roles?: string }) => (await import('./serve.ts')).serve(options))
}

function migrate(): Command {
  return new Command('migrate')
    .description('bring the database to the newest version (serve does so by itself)')
    .action(async () => (await import('./migrate.ts')).migrateDatabase())
}

function runner(): Command {
  return new Command('runner')
    .description('run CI jobs of an instance on this machine')
    .option('--url <address>', 'address of the instance (default: RUNNER_URL)')
    .option(
      '--token <token>',
      "the runner's token, glrt-… (default: RUNNER_TOKEN, which other users cannot read)",
    )
    .option('--directory <folder>', 'folder for jobs and caches (default: DATA_DIR/runner)')
    .option('--concurrency <number>', 'jobs at once (default: RUNNER_CONCURRENCY)')
    .action(async (flags: RunnerFlags) => (await import('./runner.ts')).startRunner(flags))
}

function user(): Command {
  const command = new Command('user').description(
    'list, make, block and unblock users, and give them passwords',
  )
  command
    .command('list')
    .description('print all users')
    .action(async () => (await import('./user.ts')).listUsers())
  command
    .command('create')
    .description('make a user')
    .requiredOption('--username <name>', 'name to sign in and to be mentioned by')
    .requiredOption('--email <address>', 'e-mail address')
    .option('--name <text>', 'full name (default: the user name)')
    .option('--admin', 'make an administrator')
    .action(async (options: NewUserOptions) => (await import('./user.ts')).makeUser(options))
  command
    .command('password')
    .description('give a user the password on standard input')
    .argument('<name>', 'the user')
    .action(async (username: string) => (await import('./user.ts')).changePassword(username))
  for (const [name, state, about] of [
    ['block', 'blocked', 'keep a user out: tokens stop working at once'],
    ['unblock', 'active', 'let a blocked user in again'],
  ] as const) {
    command
      .command(name)
      .description(about)
      .argument('<name>', 'the user')
      .action(async (username: string) => (await import('./user.ts')).moveUser(username, state))
  }
  return command
}

function token(): Command {
  const command = new Command('token').description('make and revoke personal access tokens')
  command
    .command('create')
    .description('make a token and print it')
    .requiredOption('--user <name>', 'whose token it is')
    .option('--name <text>', 'what it is for', 'made on the command line')
    .option('--scopes <list>', 'scopes, separated by commas', 'api')
    .option(
      '--expires-at <day>',
      'when it ends, at 00:00 UTC, as YYYY-MM-DD (default: the last day that the instance allows)',
    )
    .action(async (options: NewTokenOptions) => (await import('./token.ts')).makeToken(options))
  command
    .command('revoke')
    .description('revoke a token')
    .argument('<id>', 'the number of the token')
    .action(async (id: string) => (await import('./token.ts')).revokeToken(id))
  return command
}

function registry(): Command {
  const command = new Command('registry').description('look after container images')
  command
    .command('collect')
    .description('remove images and layers that nobody can reach any more; may run beside the service')
    .option('--dry-run', 'only say what would be removed')
    .option('--grace <hours>', 'leave alone what somebody had to do with since (default: REGISTRY_GRACE)')
    .action(async (options: CollectOptions) => (await import('./registry.ts')).collectImages(options))
  return command
}

function doctor(): Command {
  return new Command('doctor')
    .description('say what is wrong with git, database, disk, ports and permissions, and how to mend it')
    .action(async () => (await import('./doctor.ts')).examine())
}
