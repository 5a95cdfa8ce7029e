import { abilities, openedBy } from '../../src/access/index.ts'
import { page, table } from './markdown.ts'

interface Labelled {
  readonly label: string
}

/** `docs/abilities.md`: who may do what. */
export function abilitiesPage(): string {
  const sections = Object.entries(abilities).flatMap(([kind, rules]) => {
    const rows = Object.entries(
      rules as Readonly<Record<string, { allow: readonly Labelled[]; never?: readonly Labelled[] }>>,
    ).map(([ability, { allow, never = [] }]) => [
      `\`${ability}\``,
      allow.map(({ label }) => label).join(', or '),
      never.map(({ label }) => label).join(', '),
    ])
    return [
      `## On ${kind === 'instance' ? 'the instance' : `a ${kind}`}`,
      table(['Ability', 'Who', 'Never while'], rows),
    ]
  })
  return page(
    'Abilities',
    'What a caller may do, and who may. One reason must allow and none forbid; what no rule allows is denied. ' +
      'Administrators may do everything that nothing forbids. What a caller cannot see is never allowed, and answers ' +
      '404. Every endpoint names the ability that it needs.',
    ...sections,
    '## By custom roles',
    'What a custom role gives besides its base role. Removing a group is not given for top-level groups.',
    table(
      ['Permission', 'Abilities on a group', 'Abilities on a project'],
      Object.entries(openedBy).map(([permission, { group = [], project = [] }]) => [
        `\`${permission}\``,
        ...[group, project].map((opened) => opened.map((ability) => `\`${ability}\``).join(', ')),
      ]),
    ),
    'Generated from `src/access/abilities` by `npm run generate`.',
  )
}
