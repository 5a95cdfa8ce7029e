# A program in Ruby. Change the version of Ruby and the start command to yours.
FROM ruby:3.4-slim
WORKDIR /app
COPY Gemfile Gemfile.lock ./
RUN bundle config set --local without development:test && bundle install
COPY . .
RUN useradd --create-home app
USER app
CMD ["ruby", "main.rb"]
