import type { Prepare, Scenarios } from '../stage.ts'

const off: Prepare = () => ({ body: { token: 'a guess', text: 'help' } })

const places = ['integrations', 'services'].flatMap((noun) =>
  ['slack', 'mattermost'].map((chat) => `POST /projects/:id/${noun}/${chat}-slash-commands/trigger`),
)

export const chatAppScenarios: Scenarios = {
  ...Object.fromEntries(
    ['events', 'interactions', 'options'].map((what) => [
      `POST /integrations/slack/${what}`,
      { 'the chat app is off': off },
    ]),
  ),
  'POST /slack/trigger': { 'the chat app is off': off },
  ...Object.fromEntries(places.map((place) => [place, { 'another token': off }])),
}
