"""Chats as programs export them: each message of an assistant is a text of its own.

An export is told by its shape, one small adapter for each program. Messages of assistants are
examined; those of users, tools and the like are parts of their own, and are listed with them. Where
no assistant takes part (Telegram, Slack, Teams), each message that is long enough is examined.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from pura.base.errors import InputError
from pura.documents.encodings import DecodedText, decode
from pura.documents.extraction import ALTERNATIVE, MAIN, Extract
from pura.documents.formats import FORMATS, MAX_PARTS, ReadOptions, damaged, over
from pura.documents.readers.blocks import MIN_WORDS
from pura.documents.readers.html import read_page
from pura.record.left_out import LeftOutKind
from pura.record.transforms import Transform

ASSISTANT: Final = "assistant"
PERSON: Final = "person"
"""Role of who takes part in a chat without an assistant."""
_ASSISTANTS: Final = frozenset(
    {"assistant", "model", "gpt", "chatgpt", "bot", "ai", "bard", "gemini", "claude"}
)
_USERS: Final = frozenset({"user", "human"})
_MAX_NAME: Final = 60  # characters of a conversation's title or a person's name in a part's name
_Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class ChatMessage:
    """One message.

    Attributes:
        role: ``assistant``, ``user``, ``person`` or what the export calls it.
        text: Its words, joined where the export has them in pieces.
        time: When it was written, as ISO 8601 or as the export has it; empty where it does not say.
        author: The name of a person; empty for others.
        pieces: From how many pieces its words were joined.
    """

    role: str
    text: str
    time: str = ""
    author: str = ""
    pieces: int = 1


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """Messages in their order.

    Attributes:
        messages: In the order in which they were written.
        title: As the export has it; empty where it has none.
    """

    messages: list[ChatMessage]
    title: str = ""


def chat_extracts(value: Any, decoded: DecodedText, row: str = "") -> list[Extract] | None:
    """Return the messages of an exported chat as texts.

    Args:
        value: A JSON value.
        decoded: How the file's bytes became text.
        row: The name of the record that holds the chat; empty where the file is one chat.

    Returns:
        None where the value has the shape of no export.
    """
    conversations = conversations_of(value)
    return None if conversations is None else _extracts(conversations, decoded, row)


def conversations_of(value: Any) -> list[Conversation] | None:
    """Return the conversations of an exported chat; None where it has the shape of none."""
    for adapter in _ADAPTERS:
        conversations = adapter(value)
        if conversations and any(conversation.messages for conversation in conversations):
            return conversations
    return None


def _extracts(
    conversations: list[Conversation], decoded: DecodedText, row: str = ""
) -> list[Extract]:
    extracts: list[Extract] = []
    for number, conversation in enumerate(conversations, 1):
        title = " ".join(conversation.title.split())[:_MAX_NAME]
        chat = f"chat {number} {title}".rstrip() if len(conversations) > 1 else ""
        label = ", ".join(name for name in (row, chat) if name)
        extracts += _conversation_extracts(conversation, label, decoded)
        if len(extracts) > MAX_PARTS:
            raise over("limit.texts", most=MAX_PARTS)
    return extracts


def _conversation_extracts(
    conversation: Conversation, label: str, decoded: DecodedText
) -> list[Extract]:
    messages = [message for message in conversation.messages if message.text.strip()]
    prefix = f"{label}, " if label else ""
    is_alone = len(messages) == 1
    extracts: list[Extract] = []
    for number, message in enumerate(messages, 1):
        who = " ".join(message.author.split())[:_MAX_NAME] or message.role
        examined = message.role == ASSISTANT or (
            message.role == PERSON and len(message.text.split()) >= MIN_WORDS
        )
        joined = (Transform(name="pieces-joined", count=message.pieces),)
        extracts.append(
            Extract.of(
                decoded,
                message.text,
                label if is_alone else f"{prefix}message {number} ({who})",
                role=MAIN if examined else ALTERNATIVE,
                kind=None if examined else LeftOutKind.MESSAGE,
                location=message.time,
                group=label,
                transforms=joined if message.pieces > 1 else (),
            )
        )
    if not any(extract.role == MAIN for extract in extracts):
        # Nobody is known to be an assistant, so every message is examined.
        return [replace(extract, role=MAIN, kind=None) for extract in extracts]
    return extracts


def _role(name: object) -> str:
    """Return a role under its usual name."""
    if not isinstance(name, str):
        return "user"
    lowered = name.lower()
    if lowered in _ASSISTANTS:
        return ASSISTANT
    return "user" if lowered in _USERS else (lowered[:_MAX_NAME] or "user")


def _text(content: Any) -> str:
    """Return the words of a message's content: a string, a piece, or a list of pieces."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(_text(piece) for piece in content)
    if isinstance(content, dict):
        for name in ("text", "content", "parts", "value", "thoughts"):
            if isinstance(content.get(name), str | list | dict):
                return _text(content[name])
    return ""


def _time(moment: object) -> str:
    """Return a time as ISO 8601 where it is given in seconds since 1970, else as it stands."""
    if isinstance(moment, int | float) and not isinstance(moment, bool):
        try:
            return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")
        except (OverflowError, OSError, ValueError):
            return ""
    return moment[:40] if isinstance(moment, str) else ""


def _dicts(value: object) -> list[_Json]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


_THOUGHT: Final = "thought"
"""Role of what a model thinks before it answers, which is no part of its answer."""
_THOUGHTS: Final = ("thoughts", "reasoning_recap")


# ChatGPT: a tree of messages for each conversation, in which other answers are branches.


def _chatgpt(value: Any) -> list[Conversation] | None:
    exported = _dicts(value) if isinstance(value, list) else _dicts([value])
    conversations = [one for one in exported if isinstance(one.get("mapping"), dict)]
    return [
        Conversation(messages=list(_tree(one["mapping"])), title=_text(one.get("title")))
        for one in conversations
    ] or None


def _tree(mapping: _Json) -> Iterator[ChatMessage]:
    """Yield the messages of a tree, a parent before its children."""
    nodes = {name: node for name, node in mapping.items() if isinstance(node, dict)}
    roots = [name for name, node in nodes.items() if node.get("parent") not in nodes]
    stack, seen = roots[::-1], set[str]()
    while stack:
        name = stack.pop()
        if name in seen or name not in nodes:
            continue
        seen.add(name)
        children = nodes[name].get("children")
        if isinstance(children, list):
            stack += [child for child in reversed(children) if isinstance(child, str)]
        message = nodes[name].get("message")
        if isinstance(message, dict):
            author, content = message.get("author"), message.get("content")
            content = content if isinstance(content, dict) else {}
            parts = content.get("parts")
            role = _role(author.get("role") if isinstance(author, dict) else None)
            yield ChatMessage(
                role=_THOUGHT if content.get("content_type") in _THOUGHTS else role,
                text=_text(content),
                time=_time(message.get("create_time")),
                pieces=len(parts) if isinstance(parts, list) and parts else 1,
            )


# Claude


def _claude(value: Any) -> list[Conversation] | None:
    exported = _dicts(value) if isinstance(value, list) else _dicts([value])
    conversations = [one for one in exported if isinstance(one.get("chat_messages"), list)]
    return [
        Conversation(
            messages=[
                message
                for exported_message in _dicts(one["chat_messages"])
                for message in _claude_messages(exported_message)
            ],
            title=_text(one.get("name")),
        )
        for one in conversations
    ] or None


def _claude_messages(message: _Json) -> Iterator[ChatMessage]:
    """Yield a message, and the texts of the files that are attached to it."""
    time = _time(message.get("created_at"))
    pieces = [piece for piece in _dicts(message.get("content")) if piece.get("type") == "text"]
    yield ChatMessage(
        role=_role(message.get("sender")),
        text=_text(pieces) or _text(message.get("text")),
        time=time,
        pieces=max(1, len(pieces)),
    )
    for attachment in _dicts(message.get("attachments")):
        yield ChatMessage(
            role="attachment", text=_text(attachment.get("extracted_content")), time=time
        )


# Gemini: the account's activity, or a prompt of AI Studio.


def _gemini(value: Any) -> list[Conversation] | None:
    if isinstance(value, dict) and isinstance(value.get("chunkedPrompt"), dict):
        chunks = _dicts(value["chunkedPrompt"].get("chunks"))
        return [
            Conversation(
                messages=[
                    ChatMessage(
                        role=_THOUGHT if chunk.get("isThought") else _role(chunk.get("role")),
                        text=_text(chunk.get("text")),
                        time=_time(chunk.get("createTime")),
                    )
                    for chunk in chunks
                ]
            )
        ]
    entries = [entry for entry in _dicts(value) if isinstance(entry.get("safeHtmlItem"), list)]
    conversations = []
    for entry in entries:
        answer = "\n\n".join(
            read_page(_text(piece.get("html"))).text for piece in _dicts(entry["safeHtmlItem"])
        )
        time = _time(entry.get("time"))
        messages = [
            ChatMessage(role="user", text=_text(entry.get("title")), time=time),
            ChatMessage(role=ASSISTANT, text=answer, time=time),
        ]
        conversations.append(Conversation(messages=messages))
    return conversations or None


# Telegram


def _telegram(value: Any) -> list[Conversation] | None:
    if not isinstance(value, dict):
        return None
    chats = value.get("chats")
    listed = _dicts(chats.get("list")) if isinstance(chats, dict) else [value]
    conversations = [
        Conversation(
            messages=[
                ChatMessage(
                    role=PERSON,
                    text=_text(message.get("text")),
                    time=_time(message.get("date")),
                    author=_text(message.get("from")),
                )
                for message in _dicts(chat["messages"])
                if message.get("type") == "message"
            ],
            title=_text(chat.get("name")),
        )
        for chat in listed
        if isinstance(chat.get("messages"), list)
        and any(
            "from_id" in message or "text_entities" in message
            for message in _dicts(chat["messages"])
        )
    ]
    return conversations or None


# Slack: a file holds the messages of a channel on one day.

_SLACK_LINK: Final = re.compile(r"<([^<>|]*)\|([^<>]*)>|<([^<>]*)>")


def _slack(value: Any) -> list[Conversation] | None:
    messages = [
        message
        for message in _dicts(value)
        if message.get("type") == "message" and isinstance(message.get("ts"), str)
    ]
    if not messages:
        return None
    return [
        Conversation(
            messages=[
                ChatMessage(
                    role=PERSON,
                    text=_unescaped(_text(message.get("text"))),
                    time=_slack_time(message["ts"]),
                    author=_slack_author(message),
                )
                for message in messages
            ]
        )
    ]


def _slack_author(message: _Json) -> str:
    profile = message.get("user_profile")
    name = _text(profile.get("real_name")) if isinstance(profile, dict) else ""
    return name or _text(message.get("username")) or _text(message.get("user"))


def _slack_time(stamp: str) -> str:
    try:
        return _time(float(stamp))
    except ValueError:
        return stamp[:40]


def _unescaped(text: str) -> str:
    """Return text of Slack's markup: links as they are shown, and signs instead of references."""
    shown = _SLACK_LINK.sub(lambda link: link[2] or link[1] or link[3] or "", text)
    return shown.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


# Teams: messages as its programming interface gives them, or the export of an account.


def _teams(value: Any) -> list[Conversation] | None:
    if isinstance(value, dict) and isinstance(value.get("conversations"), list):
        listed = [
            chat
            for chat in _dicts(value["conversations"])
            if isinstance(chat.get("MessageList"), list)
        ]
        return [
            Conversation(
                messages=[
                    ChatMessage(
                        role=PERSON,
                        text=read_page(_text(message.get("content"))).text,
                        time=_time(message.get("originalarrivaltime")),
                        author=_text(message.get("displayName")) or _text(message.get("from")),
                    )
                    for message in _dicts(chat["MessageList"])
                ],
                title=_text(chat.get("displayName")),
            )
            for chat in listed
        ] or None
    listed = _dicts(value.get("value")) if isinstance(value, dict) else _dicts(value)
    messages = [one for one in listed if "messageType" in one and isinstance(one.get("body"), dict)]
    if not messages:
        return None
    return [Conversation(messages=[_teams_message(message) for message in messages])]


def _teams_message(message: _Json) -> ChatMessage:
    body = message["body"]
    text = _text(body.get("content"))
    if body.get("contentType") == "html":
        text = read_page(text).text
    sender = message.get("from")
    user = sender.get("user") if isinstance(sender, dict) else None
    return ChatMessage(
        role=PERSON,
        text=text,
        time=_time(message.get("createdDateTime")),
        author=_text(user.get("displayName")) if isinstance(user, dict) else "",
    )


# Lists of messages with a role, as the interfaces of engines take them and datasets keep them.


def _roles(value: Any) -> list[Conversation] | None:
    listed = value if isinstance(value, list) else [value]
    conversations = []
    for one in listed:
        messages = _messages_with_roles(one)
        if messages is None:
            return None
        conversations.append(Conversation(messages=messages))
    return conversations or None


def _messages_with_roles(value: Any) -> list[ChatMessage] | None:
    """Return the messages of a request, of an answer to it, or of both."""
    if not isinstance(value, dict):
        return None
    messages: list[ChatMessage] = []
    for name in ("messages", "conversations", "conversation", "contents", "input", "output"):
        listed = _dicts(value.get(name))
        if listed and all(_is_message(message) for message in listed):
            messages += [_message(message) for message in listed]
    for choice in _dicts(value.get("choices")):
        if isinstance(choice.get("message"), dict):
            messages.append(_message({"role": ASSISTANT, **choice["message"]}))
    for candidate in _dicts(value.get("candidates")):
        if isinstance(candidate.get("content"), dict):
            messages.append(_message({"role": ASSISTANT, **candidate["content"]}))
    if not messages and value.get("type") == "message" and _is_message(value):
        messages.append(_message(value))
    return messages or None


def _is_message(message: _Json) -> bool:
    role = message.get("role", message.get("from"))
    words = next((message[name] for name in _WORDS_OF_MESSAGE if name in message), None)
    return isinstance(role, str) and isinstance(words, str | list)


_WORDS_OF_MESSAGE: Final = ("content", "value", "parts", "text")


def _message(message: _Json) -> ChatMessage:
    words = next((message[name] for name in _WORDS_OF_MESSAGE if name in message), "")
    moment = next((message[n] for n in ("time", "timestamp", "created_at") if n in message), None)
    return ChatMessage(
        role=_role(message.get("role", message.get("from"))),
        text=_text(words),
        time=_time(moment),
        pieces=len(words) if isinstance(words, list) and words else 1,
    )


_ADAPTERS: Final[tuple[Callable[[Any], list[Conversation] | None], ...]] = (
    _chatgpt,
    _claude,
    _gemini,
    _teams,
    _telegram,
    _slack,
    _roles,
)


# Streams: an answer arrives in pieces, one to a line.


def stream_extracts(values: Iterable[Any], decoded: DecodedText) -> list[Extract] | None:
    """Return the answers that arrived in pieces, each joined to one text.

    Args:
        values: The pieces in their order, as JSON values.
        decoded: How the file's bytes became text.

    Returns:
        None where a value is no piece of a stream.
    """
    answers: dict[str, list[str]] = {}
    finished = 0
    for value in values:
        pieces = _stream_pieces(value)
        if pieces is None:
            return None
        for answer, text in pieces:
            if text:
                answers.setdefault(f"{finished} {answer}", []).append(text)
        finished += _is_last_piece(value)
    if not answers:
        return None
    return [
        Extract.of(
            decoded,
            "".join(pieces),
            f"answer {number}" if len(answers) > 1 else "",
            transforms=(Transform(name="pieces-joined", count=len(pieces)),),
        )
        for number, pieces in enumerate(answers.values(), 1)
    ]


_EVENTS: Final = re.compile(r"(message|content_block|response|ping|error)(_|\.|$)")
"""Types of the events of streams, of which only some carry words."""


def _stream_pieces(value: Any) -> list[tuple[str, str]] | None:
    """Return the words of a piece of a stream, each with the answer that it belongs to.

    None of something else; an empty list of a piece without words.
    """
    if not isinstance(value, dict):
        return None
    kind = value.get("type")
    # Chunks of OpenAI's interface, which most engines have: of chats, and of completions.
    if value.get("object") in ("chat.completion.chunk", "text_completion"):
        return [
            (
                f"{value.get('id')} {choice.get('index')}",
                _text(choice.get("delta")) if "delta" in choice else _text(choice.get("text")),
            )
            for choice in _dicts(value.get("choices"))
        ]
    if kind == "response.output_text.delta":
        return [(f"{value.get('item_id')} {value.get('content_index')}", _text(value["delta"]))]
    if kind == "content_block_delta" and isinstance(value.get("delta"), dict):
        return [(f"{value.get('index')}", _text(value["delta"]))]
    if isinstance(kind, str) and _EVENTS.match(kind):
        return []
    # Ollama: a chat, or a completion.
    if "done" in value and "model" in value:
        words = value.get("message", value.get("response"))
        return [("", _text(words))]
    if isinstance(value.get("candidates"), list):
        return [
            (f"{candidate.get('index', 0)}", _text(candidate.get("content")))
            for candidate in _dicts(value["candidates"])
        ]
    return None


def _is_last_piece(value: _Json) -> bool:
    """Whether a piece ends an answer, so that a further one begins behind it."""
    if value.get("type") == "message_stop" or value.get("done") is True:
        return True
    return any(candidate.get("finishReason") for candidate in _dicts(value.get("candidates")))


def read_stream(data: bytes, options: ReadOptions) -> list[Extract]:
    """Return the answers of a saved stream of events (``data: {…}``)."""
    decoded = decode(data, chosen=options.encoding)
    payloads: list[str] = []
    for line in decoded.text.removeprefix("\ufeff").splitlines():
        name, _, payload = line.partition(":")
        if name == "data" and payload.strip() not in ("", "[DONE]"):
            payloads.append(payload)
    try:
        values = [json.loads(payload) for payload in payloads]
    except ValueError:
        raise damaged(FORMATS["stream"].label) from None
    extracts = stream_extracts(values, decoded)
    if extracts is None:
        raise InputError("input.empty", code="input-empty")
    return extracts


def is_joined(extracts: list[Extract]) -> bool:
    """Whether a text of a stream was joined from several pieces."""
    return any(change.count > 1 for extract in extracts for change in extract.transforms)


# WhatsApp: a text file with a line for each message.

_WHATSAPP: Final = re.compile(
    r"\u200e?\[?(\d{1,4}[./-]\d{1,2}[./-]\d{1,4}, \d{1,2}[:.]\d{2}(?:[:.]\d{2})?"
    r"(?:[ \u202f\u00a0]?[AaPp]\.?[Mm]\.?)?)(?:\] | - )(?:([^:\n]{1,80}): ?)?"
)


def read_whatsapp(data: bytes, options: ReadOptions) -> list[Extract]:
    """Return the messages of an exported chat, each with the lines that go on with it."""
    decoded = decode(data, chosen=options.encoding)
    messages: list[ChatMessage] = []
    for line in decoded.text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n"):
        head = _WHATSAPP.match(line)
        if head is not None or not messages:
            # Without a name it is what the program itself says.
            author = (head[2] or "") if head is not None else ""
            messages.append(
                ChatMessage(
                    role=PERSON if author else "system",
                    text=line if head is None else line[head.end() :],
                    time="" if head is None else head[1],
                    author=author,
                )
            )
        else:
            messages[-1] = replace(messages[-1], text=f"{messages[-1].text}\n{line}")
    stripped = [replace(message, text=message.text.strip("\n")) for message in messages]
    return _extracts([Conversation(messages=stripped)], decoded)
