# A program in Rust: built in one image, run in a small one. Change `app` to the name of your program.
FROM rust:1 AS build
WORKDIR /src
COPY . .
RUN cargo build --release

FROM debian:stable-slim
COPY --from=build /src/target/release/app /usr/local/bin/app
USER 65534
CMD ["app"]
