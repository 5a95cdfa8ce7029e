import { endpoint, find, instance, project as projectKind } from '../../access/index.ts'
import { Fields, Flag, Optional, Text, type Endpoint } from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { Texts, type TextServices } from './texts.ts'

export type { NamedThing, TextPlace } from './references/index.ts'
export { Texts, type TextToRender } from './texts.ts'

/** Texts to HTML, for callers and for the areas that show texts. */
export function markdown(services: TextServices): { endpoints: Endpoint[]; texts: Texts } {
  const texts = new Texts(services)
  return {
    texts,
    endpoints: [
      endpoint({
        method: 'POST',
        path: '/markdown',
        summary: 'Render Markdown as HTML',
        description: 'With `gfm` references are linked, those without a path to what is in `project`.',
        on: instance,
        may: 'read_instance',
        params: Fields({
          text: Text(),
          gfm: Flag({ default: false }),
          project: Optional(Text({ description: 'Id or full path' })),
        }),
        answers: Fields({ html: Text() }),
        refuses: { 404: 'No such project: `404 Project Not Found`' },
        async handle({ actor, params: { text, gfm, project: id } }) {
          const project =
            id === undefined ? undefined : await find(services.db.reader, projectKind, actor, id)
          if (id !== undefined && project === undefined) throw notFound('Project')
          return { html: await texts.renderMarkdown(text, gfm ? actor : undefined, project) }
        },
      }),
    ],
  }
}
