import { Command } from 'commander'

export function userCommand(): Command {
  return new Command('user')
}
