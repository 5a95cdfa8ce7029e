import type { CommandTable } from './table.ts'

const on = ['Epic'] as const

/** Of epics alone: where they are in the tree. */
export const epicCommands: CommandTable = {
  child_epic: {
    on,
    async run(context, argument) {
      const child = await context.referred(argument, '&')
      const added =
        child && (await context.call('POST', `${context.path}/epics/${child.shown['id'] as number}`))
      return added && { summary: `Added ${argument} as a child epic.` }
    },
  },
  remove_child_epic: {
    on,
    async run(context, argument) {
      const child = await context.referred(argument, '&')
      const gone =
        child && (await context.call('DELETE', `${context.path}/epics/${child.shown['id'] as number}`))
      return gone && { summary: `Removed the child epic ${argument}.` }
    },
  },
  parent_epic: {
    on,
    async run(context, argument) {
      const above = await context.referred(argument, '&')
      return (
        above &&
        context.change(
          { parent_id: above.shown['id'] as number },
          { summary: `Set ${argument} as the parent epic.` },
        )
      )
    },
  },
  remove_parent_epic: {
    on,
    run: (context) =>
      context.clear('parent_id', { parent_id: null }, { summary: 'Removed the parent epic.' }),
  },
}
