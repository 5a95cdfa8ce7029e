import { parseDuration } from '../noteables/index.ts'
import type { CommandTable } from './table.ts'

const on = ['Issue', 'MergeRequest'] as const

/** Of the time that is planned for something, and that was spent on it. */
export const timeCommands: CommandTable = {
  estimate: {
    on,
    aliases: ['estimate_time'],
    async run(context, duration) {
      const seconds = parseDuration(duration)
      if (seconds === undefined || seconds < 0) return undefined
      return context.act(
        'time_estimate',
        { duration },
        {
          summary: `Set the time estimate to ${duration}.`,
          changes: { time_estimate: seconds },
        },
      )
    },
  },
  remove_estimate: {
    on,
    aliases: ['remove_time_estimate'],
    run: (context) =>
      context.act(
        'reset_time_estimate',
        {},
        { summary: 'Removed the time estimate.', changes: { time_estimate: 0 } },
      ),
  },
  spend: {
    on,
    aliases: ['spent', 'spend_time'],
    async run(context, argument) {
      const [, duration = '', day] = /^(.*?)(?:\s+(\d{4}-\d{2}-\d{2}))?$/.exec(argument) ?? []
      const seconds = parseDuration(duration)
      if (seconds === undefined || seconds === 0) return undefined
      const user_id = context.target.actor.user!.id
      const spent_at = day ?? new Date().toISOString().slice(0, 10)
      const summary =
        seconds > 0 ? `Added ${duration} of spent time.` : `Subtracted ${duration.slice(1)} of spent time.`
      return context.act(
        'add_spent_time',
        { duration, ...(day !== undefined && { spent_at: day }) },
        { summary, changes: { spend_time: { duration: seconds, spent_at, user_id } } },
      )
    },
  },
  remove_time_spent: {
    on,
    run: (context) =>
      context.act(
        'reset_spent_time',
        {},
        { summary: 'Removed the spent time.', changes: { spend_time: { duration: 'reset' } } },
      ),
  },
}
