/** Names of languages by what a file is called. */
export interface LanguageTable {
  readonly byExtension: ReadonlyMap<string, string>
  readonly byFileName: ReadonlyMap<string, string>
}

/** Extensions that several languages claim, and who mostly has them. */
const usual: Readonly<Record<string, string>> = {
  '.h': 'C',
  '.m': 'Objective-C',
  '.ts': 'TypeScript',
  '.tsx': 'TSX',
  '.js': 'JavaScript',
  '.pl': 'Perl',
  '.pm': 'Perl',
  '.t': 'Perl',
  '.r': 'R',
  '.cs': 'C#',
  '.fs': 'F#',
  '.v': 'Verilog',
  '.php': 'PHP',
  '.rs': 'Rust',
  '.html': 'HTML',
  '.htm': 'HTML',
  '.sql': 'PLpgSQL',
  '.d': 'D',
  '.e': 'Eiffel',
  '.cls': 'Apex',
  '.pp': 'Puppet',
  '.properties': 'Java Properties',
  '.lua': 'Lua',
  '.sc': 'Scala',
  '.ex': 'Elixir',
  '.st': 'Smalltalk',
  '.tf': 'HCL',
  '.asm': 'Assembly',
  '.s': 'Assembly',
  '.inc': 'PHP',
  '.rb': 'Ruby',
  '.py': 'Python',
  '.sh': 'Shell',
  '.vue': 'Vue',
  '.swift': 'Swift',
}

let table: Promise<LanguageTable> | undefined

/** Made at its first use: few nodes need it, and it is large. */
export function languageTable(): Promise<LanguageTable> {
  table ??= make()
  return table
}

interface Language {
  readonly name: string
  readonly type: string
  readonly extensions?: readonly string[]
  readonly filenames?: readonly string[]
}

/** Programming languages and markup count; data and prose do not, but have their extensions all the same. */
async function make(): Promise<LanguageTable> {
  const claims = new Map<string, { name: string; place: number; counts: boolean }>()
  const byFileName = new Map<string, string>()
  for (const language of Object.values(await import('linguist-languages')) as Language[]) {
    const { name, type, extensions = [], filenames = [] } = language
    const counts = type === 'programming' || type === 'markup'
    if (counts) for (const file of filenames) byFileName.set(file, name)
    extensions.forEach((extension, place) => {
      // The first extension of a language is its own; where two have it first, what does not count wins.
      const known = claims.get(extension)
      const better = known === undefined || place < known.place || (place === known.place && !counts)
      if (better) claims.set(extension, { name, place, counts })
    })
  }
  const byExtension = new Map<string, string>()
  for (const [extension, { name, counts }] of claims) if (counts) byExtension.set(extension, name)
  for (const [extension, name] of Object.entries(usual)) byExtension.set(extension, name)
  return { byExtension, byFileName }
}
