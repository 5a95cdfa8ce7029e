import { Command } from 'commander'

export function runnerCommand(): Command {
  return new Command('runner')
}
