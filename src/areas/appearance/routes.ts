import { endpoint, instance } from '../../access/index.ts'
import {
  Either,
  Fields,
  File,
  Flag,
  Nullable,
  OneOf,
  Optional,
  Text,
  type Endpoint,
  type UploadedFile,
} from '../../kernel/endpoint/index.ts'
import { invalid } from '../../kernel/errors/index.ts'
import type { Appearance } from '../../settings/index.ts'
import { takePicture, type Picture } from '../avatars/index.ts'
import type { AppearanceServices } from './index.ts'
import * as store from './store.ts'
import { pictureKinds, type PictureKind } from './store.ts'

const path = '/application/appearance'
const administrators = { on: instance, may: 'admin_instance' } as const

const texts = {
  title: 255,
  description: 100_000,
  new_project_guidelines: 100_000,
  profile_image_guidelines: 100_000,
  header_message: 4000,
  footer_message: 4000,
} as const
type TextName = keyof typeof texts
const textNames = Object.keys(texts) as TextName[]
const colours = ['message_background_color', 'message_font_color'] as const

const AppearanceShown = Fields({
  title: Text({ description: 'On the sign-in page' }),
  description: Text({ description: 'Markdown, on the sign-in page' }),
  logo: Nullable(Text({ description: 'Path of the picture on the sign-in page' })),
  header_logo: Nullable(Text()),
  favicon: Nullable(Text()),
  new_project_guidelines: Text(),
  profile_image_guidelines: Text(),
  header_message: Text(),
  footer_message: Text(),
  message_background_color: Text(),
  message_font_color: Text(),
  email_header_and_footer_enabled: Flag(),
})

const picture = Optional(
  Either(
    File<Picture>({ description: 'A picture of at most 1 MiB, in a multipart form' }),
    OneOf([''], { description: 'Takes the picture away' }),
  ),
)
const colour = Optional(Text({ pattern: '^#[0-9A-Fa-f]{3,6}$', description: 'As `#E75E40`' }))
const params = {
  ...(Object.fromEntries(
    textNames.map((name) => [name, Optional(Nullable(Text({ maxLength: texts[name] })))]),
  ) as Record<TextName, ReturnType<typeof Optional<ReturnType<typeof Nullable<ReturnType<typeof Text>>>>>>),
  message_background_color: colour,
  message_font_color: colour,
  email_header_and_footer_enabled: Optional(Flag({ description: 'Mails have both messages' })),
  logo: picture,
  header_logo: picture,
  favicon: picture,
}

const largest = 1024 * 1024
const iconTypes = new Set(['image/png', 'image/vnd.microsoft.icon'])

/** How the instance shows itself. */
export function appearanceEndpoints({ settings }: AppearanceServices): Endpoint[] {
  return [
    endpoint({
      ...administrators,
      method: 'GET',
      path,
      summary: 'Tell how the instance shows itself',
      answers: AppearanceShown,
      handle: async () => shown(await settings.storedAppearance()),
    }),
    endpoint({
      ...administrators,
      method: 'PUT',
      path,
      summary: 'Change how the instance shows itself',
      takeFile: (name, content) =>
        isKind(name) ? takePicture(name, content, { bytes: largest, called: '1 MiB' }) : undefined,
      params: Fields(params),
      answers: AppearanceShown,
      refuses: { 400: 'It is no picture, or larger than 1 MiB' },
      async handle({ params: sent }) {
        const pictures = pictureKinds.flatMap((kind) => {
          const file: UploadedFile<Picture> | '' | undefined = sent[kind]
          return file === undefined ? [] : [{ kind, picture: file === '' ? null : file.stored }]
        })
        for (const name of textNames) {
          if ((sent[name] ?? '').length > texts[name]) {
            throw invalid({ [name]: [`is too long (maximum is ${texts[name]} characters)`] })
          }
        }
        checkIcon(pictures.find(({ kind }) => kind === 'favicon')?.picture)
        const change: Partial<Appearance> = {
          ...Object.fromEntries(
            textNames.flatMap((name) => (sent[name] === undefined ? [] : [[name, sent[name] ?? '']])),
          ),
          ...Object.fromEntries(
            [...colours, 'email_header_and_footer_enabled' as const].flatMap((name) =>
              sent[name] === undefined ? [] : [[name, sent[name]]],
            ),
          ),
          ...Object.fromEntries(pictures.map(({ kind, picture: one }) => [kind, one?.filename ?? null])),
        }
        const after = await settings.changeAppearance(change, async (tx) => {
          for (const { kind, picture: one } of pictures) await store.setPicture(tx, kind, one)
        })
        return shown(after)
      },
    }),
  ]
}

function shown(appearance: Appearance): Record<string, unknown> {
  const paths = pictureKinds.map((kind) => [kind, pathOf(kind, appearance[kind])])
  return { ...appearance, ...(Object.fromEntries(paths) as object) }
}

/** Where a picture is, as a path of the service; its name changes with its content. */
export function pathOf(kind: PictureKind, filename: string | null): string | null {
  return filename === null ? null : `/uploads/-/system/appearance/${kind}/1/${filename}`
}

export function isKind(name: string): name is PictureKind {
  return (pictureKinds as readonly string[]).includes(name)
}

function checkIcon(icon: Picture | null | undefined): void {
  if (icon != null && !iconTypes.has(icon.contentType)) {
    throw invalid({ favicon: ['is not allowed to be of this type, allowed types: png, ico'] })
  }
}
